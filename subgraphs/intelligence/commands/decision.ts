import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { after, DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';
import { LoopDecision } from '../entities/decision.js';
import { DecisionStatus } from '../entities/enums.js';
import { RankingPolicy } from '../entities/policy.js';
import type { RecordDecisionOutcomeInput } from '../inputs/rank.js';
import { ACTIVATION_HOURS, DECISION_STATES } from '../rules/states.js';
import { recordById } from './outcome-join.js';
import { openOutcomeWindow } from './outcome-window.js';

/** A decision that was made ahead is shown now; its deadline counts from here. Again: nothing changes. @throws Problem not_found, conflict. */
export async function activateDecision(ctx: Context, id: string): Promise<LoopDecision> {
  const decision = await lockRow(ctx, LoopDecision, { id });
  if (decision.status === DecisionStatus.PENDING) return decision;
  const next = move(DECISION_STATES, 'decision', decision.status, 'activate');
  const now = ctx.now();
  if (now > after(decision.decidedAt, ACTIVATION_HOURS * HOUR_MS))
    fail('conflict', 'a decision is activated within 24 hours', { reason: 'too_late' });
  const { maturationDays } = await ctx.em.findOneOrFail(RankingPolicy, { id: decision.policyId });
  Object.assign(decision, { status: next, activatedAt: now, maturesAt: after(now, maturationDays * DAY_MS) });
  await openOutcomeWindow(ctx, decision);
  ctx.audit('decision.activated', id);
  return decision;
}

/** Records what became of a decision. The same source event again changes nothing. @throws Problem as {@link recordById}. */
export async function recordOutcome(ctx: Context, input: RecordDecisionOutcomeInput): Promise<LoopDecision> {
  const { id, label, sourceEventId, sourceType } = input;
  const occurredAt = input.occurredAt ?? ctx.now();
  await recordById(ctx, id, { label, sourceType: sourceType ?? 'manual', sourceEventId, occurredAt });
  return ctx.em.findOneOrFail(LoopDecision, { id }, { refresh: true });
}
