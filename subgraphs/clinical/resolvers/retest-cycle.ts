import type { FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { retestCycleStarted } from '../../../events/catalogue/clinical.js';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { stored } from '../../../runtime/federation/federation.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { durationMs } from '../../../runtime/time/durations.js';
import { closeCycle, findPair, markNotComparable } from '../commands/outcome.js';
import { auditRead } from '../commands/read-audit.js';
import type { Biomarker } from '../entities/biomarker.js';
import type { Intervention } from '../entities/intervention.js';
import type { BiomarkerObservation } from '../entities/observation.js';
import type { ProtocolMarker } from '../entities/protocol.js';
import { RetestCycle, RetestCycleConnection, RetestCycleStatus } from '../entities/retest-cycle.js';
import { roundHalfEven } from '../entities/rounding.js';
import { visibleRows } from '../entities/value-access.js';
import { MyRetestCyclesArgs, RetestCyclesArgs, StartRetestCycleInput } from '../inputs/retest-cycle.js';
import { demographicsOf } from '../ports/demographics.js';
import { codeOf, findMarkers, loadProtocolVersion } from '../queries/dictionary.js';
import { pageOfPatient } from '../queries/pages.js';
import { lockPatient } from '../queries/patient.js';
import { baselineOf, drawOf, runningIntervention, type StartFacts, violationsOfStart } from '../queries/retest-start.js';
import { datesOf, DEFAULT_GRACE_DAYS, DEFAULT_WINDOW_DAYS, nextPromptAt, retestSettings } from '../rules/retest-cycle.js';

/** Gates creation, follow-up recording and the Outcome Record; off unless known to be on. Source: spec 1, Re-test cycle 6. */
export const RETEST_FLAG = 'feature.clinical.retest-cycle';

const DEFAULT_BRAND = stored('query DefaultBrand($id: ID!) { user(id: $id) { brandId } brands(first: 100) { nodes { id isDefault } } }');

interface Brands {
  user: { brandId: string | null } | null;
  brands: { nodes: { id: string; isDefault: boolean }[] };
}

/** Brand that counts where the call names none: the user's, else the token's, else the platform's default. Source: clinical 2, RetestCycle. */
async function defaultBrand(ctx: Context, { brandId, patientId }: StartRetestCycleInput): Promise<string | null> {
  if (brandId != null) return brandId.toLowerCase();
  const { user, brands } = await ctx.federation.run<Brands>(DEFAULT_BRAND, { id: patientId });
  return user?.brandId ?? ctx.caller.brandId ?? brands.nodes.find(brand => brand.isDefault)?.id ?? null;
}

async function factsOfStart(ctx: Context, { input }: { input: StartRetestCycleInput }): Promise<StartFacts> {
  const patientId = input.patientId.toLowerCase();
  const [brandId, demographics] = await Promise.all([defaultBrand(ctx, input), demographicsOf(ctx, patientId)]);
  return { brandId, demographics };
}

const brandOf = (ctx: Context): string =>
  (ctx.facts as StartFacts).brandId ??
  fail('invalid_request', 'The brand is missing', {
    errors: [{ pointer: '/input/brandId', message: 'is required: there is no default brand' }],
  });

/** What a protocol says about a marker; a stack says nothing. */
async function markerEntry(ctx: Context, { key, definitionVersion }: Intervention, code: string): Promise<ProtocolMarker | undefined> {
  const protocol = definitionVersion === null ? null : await loadProtocolVersion(ctx, key, definitionVersion);
  return protocol?.markers.find(marker => marker.code === code);
}

interface Start {
  input: StartRetestCycleInput;
  entry: Biomarker;
  intervention: Intervention;
  baseline: BiomarkerObservation;
}

async function build(ctx: Context, { input, entry, intervention, baseline }: Start): Promise<RetestCycle> {
  const planned = await markerEntry(ctx, intervention, entry.code);
  const windowDays = input.windowDays ?? planned?.windowDays ?? DEFAULT_WINDOW_DAYS;
  const graceDays = input.graceDays ?? DEFAULT_GRACE_DAYS;
  const target = input.target ?? planned?.target;
  const cycle = Object.assign(new RetestCycle(), {
    patientId: baseline.patientId,
    code: entry.code,
    brandId: brandOf(ctx),
    baselineObservationId: baseline.id,
    baselineDrawId: baseline.drawId!,
    baselineCollectedAt: baseline.collectedAt,
    baselineAmount: roundHalfEven(baseline.canonicalAmount!, entry.decimals),
    unit: entry.unit,
    windowDays,
    graceDays,
    interventionKind: intervention.kind,
    interventionId: intervention.id,
    interventionKey: intervention.key,
    targetLow: target?.low ?? null,
    targetHigh: target?.high ?? null,
    valuesHiddenUntil: baseline.hiddenUntil,
    ...datesOf(baseline.collectedAt, windowDays, graceDays),
    createdAt: ctx.now(),
  });
  cycle.nextPromptAt = nextPromptAt(cycle, settingsOf(ctx));
  return cycle;
}

export const settingsOf = (ctx: Context) => retestSettings(name => ctx.host.config.setting(name), durationMs);

function announce(ctx: Context, cycle: RetestCycle): void {
  const { code, interventionKey, windowDays, retestDueAt, baselineCollectedAt, patientId: userId, brandId } = cycle;
  const dates = { due_at: retestDueAt.toISOString(), started_at: baselineCollectedAt.toISOString() };
  ctx.emit(retestCycleStarted, { code, protocol: interventionKey, window_days: windowDays, ...dates }, { userId, brandId });
  ctx.audit('retest_cycle.started', cycle.id, { from: null, to: cycle.status, prompt_count: 0 });
}

/** A follow-up that was stored before the cycle closes it in the same transaction. Source: clinical 4.1. */
async function closeIfRetested(ctx: Context, cycle: RetestCycle, baseline: BiomarkerObservation): Promise<void> {
  const pair = await findPair(ctx, cycle, baseline);
  if (pair && !closeCycle(ctx, cycle, pair, {})) markNotComparable(cycle);
}

const inStatus = (status: RetestCycleStatus[] | null | undefined) => (status ? { status: { $in: status } } : {});

/** A patient's cycles, newest first; in the request's batch. */
export async function listCycles(ctx: Context, patientId: string, args: MyRetestCyclesArgs): Promise<Connection<RetestCycle>> {
  const where = async (patientIds: readonly string[]) => ({ patientId: { $in: [...patientIds] }, ...inStatus(args.status) });
  const found = await pageOfPatient(ctx, { entity: RetestCycle, time: 'createdAt', name: 'retestCycles', where }, patientId, args);
  await auditRead(ctx, 'retest_cycles', found.nodes);
  return found;
}

@Resolver(() => RetestCycle)
export class RetestCycleResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:retest', flag: RETEST_FLAG })
  @Prepare(factsOfStart)
  @Mutation(() => RetestCycle, {
    description: 'Captures a baseline of a running intervention. Again for the same patient, marker and draw: the stored cycle, unchanged.',
  })
  async startRetestCycle(
    @Arg('input', () => StartRetestCycleInput) input: StartRetestCycleInput,
    @Ctx() ctx: Context,
  ): Promise<RetestCycle> {
    const patientId = input.patientId.toLowerCase();
    await lockPatient(ctx, patientId);
    const entry = (await findMarkers(ctx, [input.code])).get(input.code);
    const draw = await drawOf(ctx, patientId, input);
    const before = entry && draw && (await ctx.em.findOne(RetestCycle, { patientId, code: entry.code, baselineDrawId: draw }));
    if (before) return (ctx.status(200), before);
    const errors = violationsOfStart(ctx, input, entry);
    requireValid(errors);
    const intervention = await runningIntervention(ctx, patientId, input.intervention);
    const baseline = await baselineOf(ctx, patientId, input, entry!);
    const cycle = await build(ctx, { input, entry: entry!, intervention, baseline });
    announce(ctx, cycle);
    ctx.em.persist(cycle);
    await closeIfRetested(ctx, cycle, baseline);
    return cycle;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['comms', 'intelligence'] })
  @Query(() => RetestCycleConnection, { description: 'Re-test cycles, newest first. Values are null for callers without access to them.' })
  async retestCycles(
    @Args(() => RetestCyclesArgs) { patientId, code, status, dueFrom, dueTo, ...paging }: RetestCyclesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RetestCycle>> {
    const due = { ...(dueFrom && { $gte: dueFrom }), ...(dueTo && { $lte: dueTo }) };
    const where = {
      ...(patientId && { patientId }),
      ...(code && { code: await codeOf(ctx, code) }),
      ...inStatus(status),
      ...(Object.keys(due).length && { retestDueAt: due }),
    };
    const found = await page<RetestCycle>(ctx.em, RetestCycle, where as FilterQuery<RetestCycle>, paging, { time: 'createdAt' });
    await auditRead(ctx, 'retest_cycles', found.nodes);
    return found;
  }

  @Access({ user: 'read:my_outcomes' })
  @Query(() => RetestCycleConnection, { description: 'Own re-test cycles, newest first. Values need also read:biomarkers.' })
  myRetestCycles(@Args(() => MyRetestCyclesArgs) args: MyRetestCyclesArgs, @Ctx() ctx: Context): Promise<Connection<RetestCycle>> {
    return listCycles(ctx, ctx.caller.userId!, args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:my_outcomes' })
  @Query(() => RetestCycle, { nullable: true, description: 'One re-test cycle.' })
  async retestCycle(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<RetestCycle | null> {
    const cycle = isUuid(id) ? await ctx.em.findOne(RetestCycle, { id, ...visibleRows(ctx.caller) }) : null;
    if (cycle) await auditRead(ctx, 'retest_cycles', [cycle]);
    return cycle;
  }
}
