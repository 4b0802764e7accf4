import { checkInDue as checkInOpened } from '../../../events/catalogue/clinical.js';
import { FOR_UPDATE, loadRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { requireValid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { CheckIn, CheckInStatus, CheckInTemplate } from '../entities/check-in.js';
import { Intervention } from '../entities/intervention.js';
import { Protocol } from '../entities/protocol.js';
import { RedFlagSource } from '../entities/red-flag.js';
import { visibleRows } from '../entities/value-access.js';
import { SubmitCheckInInput } from '../inputs/check-in.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import { lockPatient } from '../queries/patient.js';
import { CHECK_IN_STATES, MISSED_AFTER_MS, violationsOfAnswers } from '../rules/check-in.js';
import { checkInsOf, type PlannedCheckIn } from '../rules/dose-schedule.js';
import { detect } from './red-flag.js';

/** A check-in that an intervention's plan has not opened yet. @param template the version in force. */
function open(ctx: Context, one: Intervention, template: CheckInTemplate, { templateKey, sequence, at }: PlannedCheckIn): void {
  const row = Object.assign(new CheckIn(), {
    patientId: one.patientId,
    interventionId: one.id,
    templateId: template.id,
    templateKey,
    sequence,
    dueAt: at,
  });
  ctx.em.persist(row);
  const data = { check_in_id: row.id, template: templateKey, due_at: at.toISOString(), sequence };
  ctx.emit(checkInOpened, data, { userId: one.patientId, brandId: one.brandId });
  ctx.audit('check_in.opened', row.id, { template: templateKey, sequence });
}

async function openAll(ctx: Context, one: Intervention, planned: readonly PlannedCheckIn[]): Promise<void> {
  const templates = planned.length ? await ctx.em.find(CheckInTemplate, { supersededAt: null }) : [];
  for (const checkIn of planned) {
    const { templateKey, sequence } = checkIn;
    const template = templates.find(row => row.key === templateKey);
    const known = template && (await ctx.em.count(CheckIn, { interventionId: one.id, templateKey, sequence }));
    if (template && !known) open(ctx, one, template, checkIn);
  }
}

/** Opens what is due in (`from`, `until`] and notes when the next one opens. */
async function openSince(ctx: Context, one: Intervention, { phases }: Protocol, from: Date, until: Date): Promise<void> {
  const plan = checkInsOf({ startedOn: one.startedOn, timeZone: one.timeZone, phases });
  const due = plan.filter(({ at }) => at > from && at <= until);
  await openAll(ctx, one, due);
  one.nextCheckInAt = plan.find(({ at }) => at > until)?.at ?? null;
}

/** An intervention has become active: what was due in the last day opens at once, what is older never does. */
export const planCheckIns = (ctx: Context, one: Intervention, protocol: Protocol): Promise<void> =>
  openSince(ctx, one, protocol, after(ctx.now(), -DAY_MS), ctx.now());

/** Opens check-ins in the morning of the member. Source: clinical 5, 7.3.6. */
export async function openDueCheckIns(ctx: Context, at: Date): Promise<void> {
  const due = await ctx.em.find(
    Intervention,
    { nextCheckInAt: { $lte: at } },
    { orderBy: { nextCheckInAt: 'asc', id: 'asc' }, limit: 100, ...FOR_UPDATE },
  );
  for (const one of due) {
    const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion!);
    await openSince(ctx, one, protocol!, after(one.nextCheckInAt!, -1), at);
  }
}

/** A check-in that nobody filled in for 7 days is missed. Source: clinical 3. */
export async function missDueCheckIns(ctx: Context, at: Date): Promise<void> {
  const late = { status: CheckInStatus.DUE, dueAt: { $lte: after(at, -MISSED_AFTER_MS) } };
  for (const row of await ctx.em.find(CheckIn, late, { limit: 200, ...FOR_UPDATE })) {
    row.status = move(CHECK_IN_STATES, 'check-in', row.status, 'miss');
    ctx.audit('check_in.missed', row.id, { template: row.templateKey });
  }
}

async function checkedAnswers(ctx: Context, { templateId }: CheckIn, answers: object | null | undefined): Promise<Record<string, unknown>> {
  const given = (answers ?? {}) as Record<string, unknown>;
  const { questions } = (await loadRow(ctx, CheckInTemplate, 'id', templateId))!;
  requireValid(violationsOfAnswers(questions, given));
  return given;
}

/** Answers a check-in that is due, or skips it. Red flags are judged on the answers. */
export async function submitCheckIn(ctx: Context, { id, skip, answers }: SubmitCheckInInput): Promise<CheckIn> {
  const row = await lockRow(ctx, CheckIn, { id, ...visibleRows(ctx.caller) });
  await lockPatient(ctx, row.patientId);
  const from = row.status;
  row.status = move(CHECK_IN_STATES, 'check-in', from, skip ? 'skip' : 'submit');
  if (!skip) {
    const checked = await checkedAnswers(ctx, row, answers);
    row.submittedAt = ctx.now();
    row.seal(ctx, checked);
    await detect(ctx, row.patientId, RedFlagSource.CHECK_IN, { template: row.templateKey, answers: checked }, [row.id]);
  }
  ctx.audit('check_in.submitted', row.id, { from, to: row.status });
  return row;
}
