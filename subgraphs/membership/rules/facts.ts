import type { FactKind } from '../entities/enums.js';
import type { MembershipFact } from '../entities/fact.js';

/** What each kind of fact says beside its time and subject. Instants are RFC 3339. */
export interface FactData {
  created: { plan_id: string; tier_key: string | null; source: string; period_end: string; tier_id?: string };
  paused: object;
  resumed: { period_end: string };
  cancelled: { reason: string; involuntary: boolean };
  tier_changed: { tier_key: string | null; direction: 'up' | 'down'; tier_id?: string };
  invoice_past_due: { invoice_id: string; grace_days?: number };
  invoice_paid: { invoice_id: string; period_start: string | null; period_end: string | null };
  dispute_lost: { dispute_id: string };
  dispute_won: { dispute_id: string };
  granted: { plan_id: string; tier_id: string; ends_at: string | null };
  staff_suspended: object;
  staff_unsuspended: object;
  staff_lapsed: object;
  opted_out: object;
  erased: object;
  period_moved: { period_start: string; period_end: string };
  ordered: object;
}

/** A fact as the fold reads it. */
export type Fact = {
  [Kind in `${FactKind}`]: Pick<MembershipFact, 'id' | 'brandId' | 'subjectId' | 'occurredAt' | 'seq'> & {
    kind: Kind;
    data: FactData[Kind];
  };
}[`${FactKind}`];

export type FactOf<Kind extends `${FactKind}`> = Extract<Fact, { kind: Kind }>;

/** As they occurred; of one instant as the log of events numbers them, own ones after it. */
export const inOrder = (facts: readonly Fact[]): Fact[] =>
  facts.toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime() || a.seq - b.seq || (a.id < b.id ? -1 : 1));
