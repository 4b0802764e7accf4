import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { isStaff } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { entered, moveIntervention, requireAllowed, requireNotRunning } from '../commands/intervention-life.js';
import {
  Intervention,
  InterventionConnection,
  InterventionKind,
  InterventionSource,
  InterventionStatus,
} from '../entities/intervention.js';
import { Protocol, ProtocolStatus } from '../entities/protocol.js';
import { visibleRows } from '../entities/value-access.js';
import {
  ChangeInterventionInput,
  InterventionAction,
  InterventionsArgs,
  MyInterventionsArgs,
  StartInterventionInput,
} from '../inputs/intervention.js';
import { contraindicationsOf } from '../ports/demographics.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import { pageOfPatient } from '../queries/pages.js';
import { lockPatient, patientOf, requireNotErased } from '../queries/patient.js';
import { instantOf } from '../rules/dose-schedule.js';
import { dateIn, firstStatus, type InterventionTrigger, isEnded, isRunning, phaseOn, plusDays } from '../rules/intervention.js';
import { newConsult } from './consult.js';

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

/** Planned end of a protocol: its first day without it. */
export function endOf(
  startedOn: string,
  timeZone: string,
  protocol: Protocol | null,
): { plannedEndOn: string | null; endsAt: Date | null } {
  if (!protocol) return { plannedEndOn: null, endsAt: null };
  const plannedEndOn = plusDays(startedOn, protocol.durationDays);
  return { plannedEndOn, endsAt: instantOf(plannedEndOn, '00:00', timeZone) };
}

/** Contraindications of the patient, asked of patient-graph before the transaction. */
async function factsOfStart(ctx: Context, { input }: { input: StartInterventionInput }): Promise<readonly string[] | null> {
  return input.kind === InterventionKind.PROTOCOL ? contraindicationsOf(ctx, patientOf(ctx, input.userId)) : null;
}

async function factsOfChange(ctx: Context, { input }: { input: ChangeInterventionInput }): Promise<readonly string[] | null> {
  if (![InterventionAction.ACTIVATE, InterventionAction.RESUME].includes(input.action) || !isUuid(input.id)) return null;
  const one = await ctx.em.findOne(Intervention, { id: input.id.toLowerCase() });
  return one && contraindicationsOf(ctx, one.patientId);
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
    ...endOf(startedOn, input.timeZone, protocol),
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
  @Prepare(factsOfStart)
  @Mutation(() => Intervention, {
    description: 'Starts a protocol or stack; one that staff starts is a proposal, one that needs a consult waits for it.',
  })
  async startIntervention(
    @Arg('input', () => StartInterventionInput) input: StartInterventionInput,
    @Ctx() ctx: Context,
  ): Promise<Intervention> {
    const patientId = patientOf(ctx, input.userId);
    await lockPatient(ctx, patientId);
    await requireNotErased(ctx, patientId);
    const one = draft(ctx, input, patientId, await definitionOf(ctx, input));
    if (one.status === InterventionStatus.ACTIVE) await requireAllowed(ctx, one, ctx.facts as readonly string[] | null);
    else await requireNotRunning(ctx, one);
    ctx.em.persist(one);
    if (one.status === InterventionStatus.PENDING_CONSULT) newConsult(ctx, { patientId, type: one.key, interventionId: one.id }, null);
    await entered(ctx, one);
    ctx.audit('intervention.started', one.id, { kind: one.kind, status: one.status });
    return one;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols' })
  @Prepare(factsOfChange)
  @Mutation(() => Intervention, { description: 'Activates, pauses, resumes, stops or completes an intervention.' })
  async changeIntervention(
    @Arg('input', () => ChangeInterventionInput) { id, action, reason }: ChangeInterventionInput,
    @Ctx() ctx: Context,
  ): Promise<Intervention> {
    const owned = visibleRows(ctx.caller, 'admin:clinical:protocols');
    const one = (isUuid(id) && (await ctx.em.findOne(Intervention, { id, ...owned }))) || fail('not_found', 'Not found');
    if (action === InterventionAction.ACTIVATE && owned.patientId !== undefined)
      fail('forbidden', 'Only the care team activates an intervention');
    await lockPatient(ctx, one.patientId);
    const trigger = await triggerOf(ctx, action, one);
    await moveIntervention(ctx, one, trigger, ctx.facts as readonly string[] | null);
    if (isEnded(one.status)) one.stopReason = reason ?? null;
    if (trigger === 'require_consult') newConsult(ctx, { patientId: one.patientId, type: one.key, interventionId: one.id }, null);
    return one;
  }
}
