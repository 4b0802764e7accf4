import { redFlagDetected, retestRecorded } from '../../../events/catalogue/clinical.js';
import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { RedFlag, RedFlagSeverity, type RedFlagStatus } from '../entities/red-flag.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { isHidden } from '../entities/value-access.js';
import { WaitingEvent, WaitingEventKind as Kind } from '../entities/waiting-event.js';
import { STANDING_FLAGS } from '../rules/red-flag.js';

function tellFlag(ctx: Context, { id, patientId: userId, ruleKey: rule, severity, source, detectedAt }: RedFlag): void {
  ctx.emit(redFlagDetected, { flag_id: id, rule, severity, source, detected_at: detectedAt.toISOString() }, { userId });
}

function tellOutcome(ctx: Context, { code, patientId: userId, brandId, outcomeDirection, daysToRetest }: RetestCycle): void {
  ctx.emit(retestRecorded, { code, direction: outcomeDirection!, days_to_retest: daysToRetest! }, { userId, brandId });
}

function wait(ctx: Context, kind: Kind, { id: subjectId, patientId }: { id: string; patientId: string }, until: Date): void {
  ctx.em.persist(Object.assign(new WaitingEvent(), { subjectId, patientId, kind, until }));
}

/**
 * Tells of a flag that was raised. One that shows a held-back value waits as long as that: clinicians have the value's alert. An urgent
 * one goes to them at once and to nobody else.
 */
export function announceFlag(ctx: Context, flag: RedFlag): void {
  if (flag.severity !== RedFlagSeverity.URGENT && isHidden(flag, ctx.now())) wait(ctx, Kind.RED_FLAG, flag, flag.hiddenUntil!);
  else tellFlag(ctx, flag);
}

/** Tells the direction of a cycle that was closed, when the member may see it. */
export function announceOutcome(ctx: Context, cycle: RetestCycle): void {
  const { valuesHiddenUntil: hiddenUntil } = cycle;
  if (isHidden({ hiddenUntil }, ctx.now())) wait(ctx, Kind.RETEST_CYCLE, cycle, hiddenUntil!);
  else tellOutcome(ctx, cycle);
}

/** Emits an event that waits for nothing any more; a flag that was no danger, or is dealt with, is no news. */
async function release(ctx: Context, event: WaitingEvent): Promise<void> {
  const id = event.subjectId;
  const flag = event.kind === Kind.RED_FLAG ? await ctx.em.findOne(RedFlag, { id }) : null;
  const cycle = event.kind === Kind.RETEST_CYCLE ? await ctx.em.findOne(RetestCycle, { id }) : null;
  const hiddenUntil = (flag ? flag.hiddenUntil : cycle?.valuesHiddenUntil) ?? null;
  if (isHidden({ hiddenUntil }, ctx.now())) return void (event.until = hiddenUntil!);
  if (flag && (STANDING_FLAGS as readonly RedFlagStatus[]).includes(flag.status)) tellFlag(ctx, flag);
  if (cycle) tellOutcome(ctx, cycle);
  ctx.em.remove(event);
}

/** What of a patient waits for nothing any more, after a value was shown. */
export async function releaseEventsOf(ctx: Context, patientId: string): Promise<void> {
  await ctx.em.flush();
  for (const event of await ctx.em.find(WaitingEvent, { patientId }, { orderBy: { subjectId: 'asc' }, ...FOR_UPDATE }))
    await release(ctx, event);
}

/** What has waited as long as it may, some at a time. */
export async function releaseDueEvents(ctx: Context, at: Date): Promise<void> {
  const due = await ctx.em.find(
    WaitingEvent,
    { until: { $lte: at } },
    { orderBy: { until: 'asc', subjectId: 'asc' }, limit: 100, ...FOR_UPDATE },
  );
  for (const event of due) await release(ctx, event);
}
