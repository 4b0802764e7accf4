import { MembershipStatus, SuspensionReason } from '../entities/enums.js';
import type { Membership } from '../entities/membership.js';
import type { MembershipDifference } from '../entities/stats.js';
import type { FactData } from './facts.js';

/** A subscription as payments tells of it, its plan's tier found. */
export interface Billed {
  id: string;
  /** ACTIVE, TRIALING, PAST_DUE, PAUSED, CANCELLED. */
  status: string;
  source: string;
  planId: string;
  tierKey: string | null;
  tierId: string;
  rank: number;
  periodStart: string;
  periodEnd: string;
  endedAt: string | null;
  cancelReason: string | null;
  createdAt: string;
  /** The invoice that is overdue, where one is. */
  overdueInvoice: string | null;
}

/** A fact to be recorded; `at` null: now. */
export interface Correction {
  kind: keyof FactData;
  subjectId: string;
  at: string | null;
  data: object;
}

export interface Comparison {
  differences: MembershipDifference[];
  corrections: Correction[];
}

type Held = Pick<
  Membership,
  'status' | 'subscriptionId' | 'tierId' | 'suspensionReasons' | 'graceUntil' | 'currentPeriodEnd' | 'lapseReason'
> & { rank: number };

const LIVE = ['ACTIVE', 'TRIALING', 'PAST_DUE', 'PAUSED'];
const { PAUSED, PAYMENT_PAST_DUE } = SuspensionReason;

class Differences {
  readonly found: Comparison = { differences: [], corrections: [] };

  add(
    field: string,
    expected: string | null,
    actual: string | null,
    kind: keyof FactData,
    subjectId: string,
    data: object,
    at: string | null = null,
  ) {
    this.found.differences.push({ field, expected, actual });
    this.found.corrections.push({ kind, subjectId, data, at });
  }
}

function compareStatus(all: Differences, { id, status, periodEnd, overdueInvoice }: Billed, row: Held): void {
  const paused = row.suspensionReasons.includes(PAUSED);
  const overdue = row.graceUntil !== null || row.suspensionReasons.includes(PAYMENT_PAST_DUE);
  const actual = [row.status, ...row.suspensionReasons].join(' ');
  if (status === 'PAUSED' && !paused) all.add('status', status.toLowerCase(), actual, 'paused', id, {});
  if (status === 'PAST_DUE' && !overdue && overdueInvoice)
    all.add('status', status.toLowerCase(), actual, 'invoice_past_due', id, { invoice_id: overdueInvoice });
  if (['ACTIVE', 'TRIALING'].includes(status) && (paused || overdue))
    all.add('status', status.toLowerCase(), actual, 'resumed', id, { period_end: periodEnd });
}

function compareLive(all: Differences, billed: Billed, row: Held): void {
  const { id, tierId, tierKey, rank, periodStart, periodEnd } = billed;
  compareStatus(all, billed, row);
  if (tierId !== row.tierId) {
    const change = { tier_key: tierKey, tier_id: tierId, direction: rank > row.rank ? 'up' : 'down' };
    all.add('tier', tierId, row.tierId, 'tier_changed', id, change);
  }
  const [ours, theirs] = [row.currentPeriodEnd?.toISOString() ?? null, new Date(periodEnd).toISOString()];
  if (ours !== theirs)
    all.add('current_period_end', theirs, ours, 'period_moved', id, { period_start: periodStart, period_end: periodEnd });
}

const ended = ({ cancelReason }: Partial<Billed>) => ({
  reason: cancelReason ?? 'other',
  involuntary: /payment_failed/i.test(cancelReason ?? ''),
});

/** What payments knows of a user otherwise than we do, and the facts that put it right. Source: membership 9.1. */
export function compare(billed: readonly Billed[], rows: readonly Held[]): Comparison {
  const all = new Differences();
  for (const one of billed) {
    const row = rows.find(({ subscriptionId }) => subscriptionId === one.id);
    const lives = LIVE.includes(one.status);
    if (!row && lives) {
      const { planId: plan_id, tierKey: tier_key, periodEnd: period_end } = one;
      const data = { plan_id, tier_key, source: one.source.toLowerCase(), period_end };
      all.add('subscription', one.id, null, 'created', one.id, data, one.createdAt);
    }
    if (row && lives && row.status !== MembershipStatus.LAPSED) compareLive(all, one, row);
  }
  for (const row of rows.filter(one => one.status !== MembershipStatus.LAPSED && one.subscriptionId !== null)) {
    const one = billed.find(({ id }) => id === row.subscriptionId);
    if (!one || !LIVE.includes(one.status))
      all.add(
        'status',
        one?.status.toLowerCase() ?? null,
        row.status,
        'cancelled',
        row.subscriptionId!,
        ended(one ?? {}),
        one?.endedAt ?? null,
      );
  }
  return all.found;
}
