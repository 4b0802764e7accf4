import { LockMode } from '@mikro-orm/postgresql';
import { checkInDue as checkInOpened } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { CheckIn, CheckInStatus, CheckInTemplate } from '../entities/check-in.js';
import { Intervention } from '../entities/intervention.js';
import type { Protocol } from '../entities/protocol.js';
import { CHECK_IN_STATES, MISSED_AFTER_MS } from '../rules/check-in.js';
import { checkInsOf, type PlannedCheckIn } from '../rules/dose-schedule.js';
import { DAY_MS } from '../rules/retest-cycle.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import type { DueWork } from '../timers/care.js';

const planOf = ({ startedOn, timeZone }: Intervention, { phases }: Protocol): PlannedCheckIn[] =>
  checkInsOf({ startedOn, timeZone, phases });

async function open(ctx: Context, one: Intervention, planned: readonly PlannedCheckIn[]): Promise<void> {
  const templates = planned.length ? await ctx.em.find(CheckInTemplate, { supersededAt: null }) : [];
  for (const { templateKey, sequence, at } of planned) {
    const template = templates.find(row => row.key === templateKey);
    const known = template && (await ctx.em.count(CheckIn, { interventionId: one.id, templateKey, sequence }));
    if (!template || known) continue;
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
}

/** Opens what is due in (`from`, now] and notes when the next one opens. */
async function openSince(ctx: Context, one: Intervention, protocol: Protocol, from: Date, until: Date): Promise<void> {
  const plan = planOf(one, protocol);
  await open(
    ctx,
    one,
    plan.filter(({ at }) => at > from && at <= until),
  );
  one.nextCheckInAt = plan.find(({ at }) => at > until)?.at ?? null;
}

/** An intervention has become active: what was due in the last day opens at once, what is older never does. */
export const planCheckIns = (ctx: Context, one: Intervention, protocol: Protocol): Promise<void> =>
  openSince(ctx, one, protocol, new Date(ctx.now().getTime() - DAY_MS), ctx.now());

/** Opens check-ins in the morning of the member. Source: clinical 5, 7.3.6. */
export const checkInDue: DueWork = async (ctx, at) => {
  const due = await ctx.em.find(
    Intervention,
    { nextCheckInAt: { $lte: at } },
    { orderBy: { nextCheckInAt: 'asc', id: 'asc' }, limit: 100, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  for (const one of due) {
    const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion!);
    await openSince(ctx, one, protocol!, new Date(one.nextCheckInAt!.getTime() - 1), at);
  }
};

/** A check-in that nobody filled in for 7 days is missed. Source: clinical 3. */
export const missedCheckInDue: DueWork = async (ctx, at) => {
  const dueAt = { $lte: new Date(at.getTime() - MISSED_AFTER_MS) };
  const late = await ctx.em.find(CheckIn, { status: CheckInStatus.DUE, dueAt }, { limit: 200, lockMode: LockMode.PESSIMISTIC_WRITE });
  for (const row of late) {
    row.status = move(CHECK_IN_STATES, 'check-in', row.status, 'miss');
    ctx.audit('check_in.missed', row.id, { template: row.templateKey });
  }
};
