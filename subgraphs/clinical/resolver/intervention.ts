import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { protocolStarted } from '../../../events/catalogue/clinical.js';
import { Access } from '../../../runtime/access.js';
import { isStaff } from '../../../runtime/caller.js';
import { Context } from '../../../runtime/context.js';
import { fail } from '../../../runtime/errors.js';
import { isUuid } from '../../../runtime/ids.js';
import { connectionOf, type Connection } from '../../../runtime/page.js';
import { move } from '../../../runtime/states.js';
import { Intervention, InterventionKind, InterventionSource, InterventionStatus } from '../entities/intervention.js';
import { Protocol, ProtocolStatus } from '../entities/protocol.js';
import { visibleRows } from '../entities/value-access.js';
import {
  ChangeInterventionInput,
  InterventionAction,
  InterventionsArgs,
  MyInterventionsArgs,
  StartInterventionInput,
} from '../inputs/intervention.js';
import {
  dateIn,
  firstStatus,
  INTERVENTION_STATES,
  isEnded,
  isRunning,
  phaseOn,
  plusDays,
  type InterventionTrigger,
} from '../rules/intervention.js';
import { loadProtocolVersion } from './dictionary.js';
import { pageOfPatient } from './pages.js';
import { lockPatient, patientOf } from './patient.js';

export const InterventionConnection = connectionOf(Intervention, 'Intervention');

const refuse = (field: string, message: string): never =>
  fail('invalid_request', 'The input is invalid', { errors: [{ pointer: `/input/${field}`, message }] });

/** A patient's protocols and stacks, newest first; in the request's batch. */
export function listInterventions(ctx: Context, patientId: string, args: MyInterventionsArgs): Promise<Connection<Intervention>> {
  const { status } = args;
  const where = async (patientIds: readonly string[]) => ({
    patientId: { $in: [...patientIds] },
    ...(status && { status: { $in: status } }),
  });
  return pageOfPatient(ctx, { entity: Intervention, time: 'createdAt', name: 'interventions', where }, patientId, args);
}

/** The protocol that a call starts; null for a stack, which content defines. */
async function definitionOf(ctx: Context, { kind, key }: StartInterventionInput): Promise<Protocol | null> {
  if (kind === InterventionKind.STACK) return null;
  const protocol = await ctx.em.findOne(Protocol, { key, supersededAt: null, status: ProtocolStatus.ACTIVE });
  return protocol ?? refuse('key', 'is not an active protocol');
}

async function requireNotRunning(ctx: Context, { patientId, kind, key }: Intervention): Promise<void> {
  const running = await ctx.em.findOne(Intervention, {
    patientId,
    kind,
    key,
    status: { $in: [InterventionStatus.ACTIVE, InterventionStatus.PAUSED] },
  });
  if (running) fail('conflict', `this ${kind} is ${running.status} already`, { reason: 'already_running' });
}

/** First time active: the event, once. */
function activated(ctx: Context, one: Intervention): void {
  if (one.status !== InterventionStatus.ACTIVE || one.activatedAt !== null) return;
  one.activatedAt = ctx.now();
  if (one.kind !== InterventionKind.PROTOCOL) return;
  const data = {
    protocol_id: one.id,
    protocol: one.key,
    version: one.definitionVersion!,
    started_on: one.startedOn,
    prescriber_id: one.prescriberId,
  };
  ctx.emit(protocolStarted, data, { userId: one.patientId, brandId: one.brandId });
}

function draft(ctx: Context, input: StartInterventionInput, patientId: string, protocol: Protocol | null): Intervention {
  const today = dateIn(input.timeZone, ctx.now());
  const startedOn = input.startedOn ?? today;
  if (startedOn > today) refuse('startedOn', 'lies in the future');
  const byStaff = isStaff(ctx.caller) && patientId !== ctx.caller.userId;
  return Object.assign(new Intervention(), {
    patientId,
    kind: input.kind,
    key: input.key,
    definitionVersion: protocol?.version ?? null,
    startedOn,
    timeZone: input.timeZone,
    createdAt: ctx.now(),
    plannedEndOn: protocol && plusDays(startedOn, protocol.durationDays),
    status: firstStatus(byStaff, protocol?.requiresConsult ?? false),
    source: byStaff ? InterventionSource.STAFF : InterventionSource.MEMBER,
    brandId: ctx.caller.brandId,
  });
}

/** What an action is called in the states table: activation leads by way of a consult where the protocol needs one. */
async function triggerOf(ctx: Context, action: InterventionAction, one: Intervention): Promise<InterventionTrigger> {
  if (action !== InterventionAction.ACTIVATE || one.kind === InterventionKind.STACK) return action;
  const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion!);
  return protocol?.requiresConsult && one.status === InterventionStatus.PROPOSED ? 'require_consult' : action;
}

@Resolver(() => Intervention)
export class InterventionResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['workflow'] })
  @Query(() => InterventionConnection, { description: "A patient's protocols and stacks, newest first." })
  interventions(
    @Args(() => InterventionsArgs) { userId, ...args }: InterventionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<Intervention>> {
    return listInterventions(ctx, userId.toLowerCase(), args);
  }

  @Access({ user: 'read:protocols' })
  @Query(() => InterventionConnection, { description: 'Own protocols and stacks, newest first.' })
  myInterventions(@Args(() => MyInterventionsArgs) args: MyInterventionsArgs, @Ctx() ctx: Context): Promise<Connection<Intervention>> {
    return listInterventions(ctx, ctx.caller.userId!, args);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Phase of the protocol that today lies in, while it runs.' })
  async phase(@Root() one: Intervention, @Ctx() ctx: Context): Promise<string | null> {
    if (!isRunning(one.status) || one.definitionVersion === null) return null;
    const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion);
    return protocol && phaseOn(protocol.phases, one.startedOn, dateIn(one.timeZone, ctx.now()));
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols', self: true })
  @Mutation(() => Intervention, {
    description: 'Starts a protocol or stack; one that staff starts is a proposal, one that needs a consult waits for it.',
  })
  async startIntervention(
    @Arg('input', () => StartInterventionInput) input: StartInterventionInput,
    @Ctx() ctx: Context,
  ): Promise<Intervention> {
    const patientId = patientOf(ctx, input.userId);
    await lockPatient(ctx, patientId);
    const one = draft(ctx, input, patientId, await definitionOf(ctx, input));
    await requireNotRunning(ctx, one);
    activated(ctx, one);
    ctx.em.persist(one);
    ctx.audit('intervention.started', one.id, { kind: one.kind, status: one.status });
    return one;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols' })
  @Mutation(() => Intervention, { description: 'Activates, pauses, resumes, stops or completes an intervention.' })
  async changeIntervention(
    @Arg('input', () => ChangeInterventionInput) { id, action, reason }: ChangeInterventionInput,
    @Ctx() ctx: Context,
  ): Promise<Intervention> {
    const owned = visibleRows(ctx.caller, 'admin:clinical:protocols');
    const one = (isUuid(id) && (await ctx.em.findOne(Intervention, { id, ...owned }))) || fail('not_found', 'Not found');
    if (action === InterventionAction.ACTIVATE && owned.patientId !== undefined)
      fail('forbidden', 'Only the care team activates an intervention');
    const from = one.status;
    await lockPatient(ctx, one.patientId);
    const to = move(INTERVENTION_STATES, one.kind, from, await triggerOf(ctx, action, one));
    if (isRunning(to) && !isRunning(from)) await requireNotRunning(ctx, one);
    one.status = to;
    if (isEnded(one.status)) Object.assign(one, { endedAt: ctx.now(), stopReason: reason ?? null });
    activated(ctx, one);
    ctx.audit(`intervention.${action}`, one.id, { from, to });
    return one;
  }
}
