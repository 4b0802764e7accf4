export const JOIN_FLOOR = 0.8;
/** Closed decisions that each window needs before a collapse is distinguished from chance. */
const MIN_CLOSED = 20;
const COLLAPSE = 0.5;
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

export type StallReason = 'orchestrator_dead' | 'join_rate_collapse' | 'no_proposals';

/** What the loop has done, as read from the ledger at one moment. Instants in ms since 1970. */
export interface LoopFacts {
  now: number;
  /** Null: the ledger is empty. */
  firstDecisionAt: number | null;
  lastDecisionAt: number | null;
  lastTickAt: number | null;
  lastProposalAt: number | null;
  /** Closed decisions whose deadline lies in the last 7 days, and in the 28 days before. */
  joined7: number;
  closed7: number;
  joined28: number;
  closed28: number;
}

export interface LoopSettings {
  tickIntervalMs: number;
  noProposalWeeks: number;
  windowDays: number;
}

const rate = (joined: number, closed: number): number | null => (closed === 0 ? null : joined / closed);

/** Instant after which the orchestrator counts as dead; null on an empty ledger. */
export const deadAfter = ({ firstDecisionAt, lastTickAt }: LoopFacts, { tickIntervalMs }: LoopSettings): number | null =>
  firstDecisionAt === null ? null : Math.max(firstDecisionAt, lastTickAt ?? 0) + 3 * tickIntervalMs;

function collapsed({ joined7, closed7, joined28, closed28 }: LoopFacts): boolean {
  if (closed7 < MIN_CLOSED || closed28 < MIN_CLOSED) return false;
  return joined7 / closed7 < COLLAPSE * (joined28 / closed28);
}

function withoutProposals({ now, firstDecisionAt, lastDecisionAt, lastProposalAt }: LoopFacts, { noProposalWeeks }: LoopSettings): boolean {
  const span = noProposalWeeks * WEEK_MS;
  if (firstDecisionAt === null || lastDecisionAt === null || now - lastDecisionAt > span) return false;
  return now - Math.max(firstDecisionAt, lastProposalAt ?? 0) > span;
}

/** Why the loop counts as stalled; a stalled loop looks like a converged one. Source: spec 1, Gate metrics; intelligence 7.1. */
export function stallReasons(facts: LoopFacts, settings: LoopSettings): StallReason[] {
  const dead = deadAfter(facts, settings);
  return [
    ...(dead !== null && facts.now > dead ? (['orchestrator_dead'] as const) : []),
    ...(collapsed(facts) ? (['join_rate_collapse'] as const) : []),
    ...(withoutProposals(facts, settings) ? (['no_proposals'] as const) : []),
  ];
}

const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** 1 live, 0 stalled, with what led there. */
export function liveness(facts: LoopFacts, settings: LoopSettings): { value: number; details: Record<string, unknown> } {
  const reasons = stallReasons(facts, settings);
  const scope = { policy_kind: null, policy_key: null, brand_id: null, policy_version: null, registry_id: null };
  const details = {
    scope,
    state: reasons.length ? 'unhealthy' : 'healthy',
    stalled: reasons.length > 0,
    reasons,
    n: facts.closed7 + facts.closed28,
    window_days: settings.windowDays,
    last_tick_at: instant(facts.lastTickAt),
    last_proposal_at: instant(facts.lastProposalAt),
    join_rate_7d: rate(facts.joined7, facts.closed7),
    join_rate_28d: rate(facts.joined7 + facts.joined28, facts.closed7 + facts.closed28),
  };
  return { value: reasons.length ? 0 : 1, details };
}
