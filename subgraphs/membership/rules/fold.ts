import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { LapseReason, MembershipSource, MembershipStatus, SuspensionReason, TierDirection } from '../entities/enums.js';
import type { Catalogue, TierFacts } from './catalogue.js';
import { inOrder, type Fact, type FactOf } from './facts.js';
import { mark, type Change, type Folded, type Segment, type Timeline } from './timeline.js';

const { ACTIVE, SUSPENDED, LAPSED } = MembershipStatus;
const { PAUSED, PAYMENT_PAST_DUE, STAFF, DISPUTE } = SuspensionReason;

/** What is known of a subscription, whether it has a membership yet or not. */
interface Account {
  overdue: Set<string>;
  paid: Set<string>;
  lost: Set<string>;
  period: { start: Date; end: Date } | null;
}

interface Beginning {
  origin: string;
  tier: TierFacts;
  source: MembershipSource;
  subscriptionId: string | null;
  compEndsAt: Date | null;
}

const sourceOf = (source: string): MembershipSource =>
  source === 'gift' || source === 'comp' ? (source as MembershipSource) : MembershipSource.SUBSCRIPTION;

const isFraud = (reason: string): boolean => /fraud/.test(reason);

/** What an event leaves open and the first fold settles for good, such as the days of grace of its plan. */
export type Settled = ReadonlyMap<string, object>;

/** The facts of one user in one brand, one after the other. */
class BrandFold {
  readonly memberships: Folded[] = [];
  readonly segments: Segment[] = [];
  readonly changes: Change[] = [];
  readonly #accounts = new Map<string, Account>();
  readonly #begun = new Set<string>();
  optedOut = false;
  erased = false;

  constructor(
    readonly brandId: string,
    readonly catalogue: Catalogue,
    readonly settled: Map<string, object>,
  ) {}

  /** What time alone does before an instant, or at it, in its order. */
  passTo(instant: Date, inclusive: boolean): void {
    for (let live = this.#live(); live; live = this.#live()) {
      const due = [live.graceUntil, live.compEndsAt].filter(at => at !== null).sort((a, b) => a.getTime() - b.getTime())[0];
      if (!due || due > instant || (!inclusive && due >= instant)) return;
      if (due === live.compEndsAt) this.#lapse(live, due, LapseReason.COMP_ENDED, { mayBeWonBack: true });
      else this.#hold(live, due, PAYMENT_PAST_DUE);
    }
  }

  apply(fact: Fact): void {
    this.passTo(fact.occurredAt, false);
    const live = this.#live();
    const own = fact.subjectId === null || live?.subscriptionId === fact.subjectId ? live : undefined;
    switch (fact.kind) {
      case 'created':
        return this.#created(fact);
      case 'granted':
        return this.#granted(fact);
      case 'paused':
        return this.#hold(own, fact.occurredAt, PAUSED);
      case 'resumed':
        return this.#resumed(fact, own);
      case 'cancelled':
        return this.#cancelled(fact, own);
      case 'tier_changed':
        return own && this.#changeTier(own, fact);
      case 'invoice_past_due':
        return this.#pastDue(fact, own);
      case 'invoice_paid':
        return this.#paid(fact, own);
      case 'dispute_lost':
        this.#account(fact.subjectId!).lost.add(fact.data.dispute_id);
        return this.#hold(own, fact.occurredAt, DISPUTE);
      case 'dispute_won':
        this.#account(fact.subjectId!).lost.delete(fact.data.dispute_id);
        return this.#account(fact.subjectId!).lost.size ? undefined : this.#release(own, fact.occurredAt, DISPUTE);
      case 'staff_suspended':
        return this.#hold(live, fact.occurredAt, STAFF);
      case 'staff_unsuspended':
        return this.#release(live, fact.occurredAt, STAFF);
      case 'staff_lapsed':
        return live && this.#lapse(live, fact.occurredAt, LapseReason.STAFF, { involuntary: true });
      case 'period_moved':
        return void (own && ([own.periodStart, own.periodEnd] = [new Date(fact.data.period_start), new Date(fact.data.period_end)]));
      case 'opted_out':
        this.optedOut = true;
        return;
      case 'erased':
        this.erased = true;
        return live && this.#lapse(live, fact.occurredAt, LapseReason.ERASURE, {});
    }
  }

  #live(): Folded | undefined {
    const last = this.memberships.at(-1);
    return last && last.status !== LAPSED ? last : undefined;
  }

  #account(subscriptionId: string): Account {
    let account = this.#accounts.get(subscriptionId);
    if (!account) this.#accounts.set(subscriptionId, (account = { overdue: new Set(), paid: new Set(), lost: new Set(), period: null }));
    return account;
  }

  #mark(at: Date): void {
    const { tierId, status } = this.memberships.at(-1)!;
    mark(this.segments, { membership: this.memberships.length - 1, tierId, status, from: at });
  }

  #begin(at: Date, { tier, ...beginning }: Beginning): Folded {
    const open = { suspendedAt: null, graceUntil: null, lapsedAt: null, lapseReason: null, periodStart: null };
    const one: Folded = {
      ...open,
      ...beginning,
      planId: tier.planId,
      tierId: tier.id,
      status: ACTIVE,
      reasons: [],
      startedAt: at,
      activeSince: at,
      periodEnd: beginning.compEndsAt,
      involuntary: false,
      mayBeWonBack: false,
    };
    this.memberships.push(one);
    this.#mark(at);
    return one;
  }

  /** A subscription begins one membership, however often it is told of; one that comes while a comp lasts takes it over. */
  #created({ subjectId, occurredAt: at, id, data }: FactOf<'created'>): void {
    const subscriptionId = subjectId!;
    if (this.erased || this.#begun.has(subscriptionId)) return;
    this.#begun.add(subscriptionId);
    const tier = data.tier_id ? this.catalogue.tier(data.tier_id) : this.catalogue.tierOf(data.plan_id, data.tier_key);
    this.settled.set(id, { tier_id: tier.id });
    const one = this.#taker(at, {
      origin: `subscription:${subscriptionId}`,
      tier,
      source: sourceOf(data.source),
      subscriptionId,
      compEndsAt: null,
    });
    const { period, overdue, lost } = this.#account(subscriptionId);
    const first = { start: at, end: new Date(data.period_end) };
    [one.periodStart, one.periodEnd] = period && period.end >= first.end ? [period.start, period.end] : [first.start, first.end];
    if (overdue.size) one.graceUntil = after(at, this.catalogue.plan(one.planId).graceDays * DAY_MS);
    if (lost.size) this.#hold(one, at, DISPUTE);
  }

  #taker(at: Date, beginning: Beginning): Folded {
    const live = this.#live();
    if (live?.source !== MembershipSource.COMP || live.subscriptionId !== null) {
      if (live) this.#lapse(live, at, LapseReason.CANCELLED, {}); // payments lets nobody have two, so the older one has ended
      return this.#begin(at, beginning);
    }
    const { source, subscriptionId, tier } = beginning;
    Object.assign(live, { source, subscriptionId, compEndsAt: null });
    this.#moveTo(live, at, tier, null);
    return live;
  }

  #granted({ id, occurredAt, data }: FactOf<'granted'>): void {
    if (this.erased || this.#live()) return;
    const tier = this.catalogue.tier(data.tier_id);
    const compEndsAt = data.ends_at === null ? null : new Date(data.ends_at);
    this.#begin(occurredAt, { origin: `granted:${id}`, tier, source: MembershipSource.COMP, subscriptionId: null, compEndsAt });
  }

  #hold(live: Folded | undefined, at: Date, reason: SuspensionReason): void {
    if (!live) return;
    if (reason === PAYMENT_PAST_DUE) live.graceUntil = null;
    if (live.reasons.includes(reason)) return;
    live.reasons.push(reason);
    if (live.status === SUSPENDED) return;
    Object.assign(live, { status: SUSPENDED, suspendedAt: at, activeSince: null });
    this.#mark(at);
  }

  /** Removing one reason does not reactivate while another stands. Source: membership 7.3. */
  #release(live: Folded | undefined, at: Date, ...reasons: SuspensionReason[]): void {
    if (!live) return;
    live.reasons = live.reasons.filter(one => !reasons.includes(one));
    if (live.status !== SUSPENDED || live.reasons.length) return;
    Object.assign(live, { status: ACTIVE, suspendedAt: null, activeSince: at });
    this.#mark(at);
  }

  /** What was banked by a pause continues its period; what staff waived is the period after the old one. */
  #resumed({ subjectId, occurredAt, data }: FactOf<'resumed'>, own: Folded | undefined): void {
    this.#account(subjectId!).overdue.clear();
    if (!own) return;
    const end = new Date(data.period_end);
    const waived = !own.reasons.includes(PAUSED) && own.periodEnd !== null && end > own.periodEnd;
    if (waived) own.periodStart = own.periodEnd;
    Object.assign(own, { periodEnd: end, graceUntil: null });
    this.#release(own, occurredAt, PAUSED, PAYMENT_PAST_DUE);
  }

  #cancelled({ subjectId, occurredAt, data }: FactOf<'cancelled'>, own: Folded | undefined): void {
    this.#begun.add(subjectId!);
    if (!own) return;
    const failed = data.reason === LapseReason.PAYMENT_FAILED;
    const inDebt = data.involuntary && (failed || this.#account(subjectId!).overdue.size > 0);
    const fraud = isFraud(data.reason) || own.reasons.includes(DISPUTE);
    const how = { involuntary: data.involuntary, mayBeWonBack: !inDebt && !fraud };
    this.#lapse(own, occurredAt, failed ? LapseReason.PAYMENT_FAILED : LapseReason.CANCELLED, how);
  }

  #lapse(live: Folded, at: Date, lapseReason: LapseReason, how: { involuntary?: boolean; mayBeWonBack?: boolean }): void {
    const over = { reasons: [], activeSince: null, suspendedAt: null, graceUntil: null, compEndsAt: null };
    Object.assign(live, { ...over, status: LAPSED, lapsedAt: at, lapseReason, involuntary: false, mayBeWonBack: false, ...how });
    this.#mark(at);
  }

  #changeTier(own: Folded, { id, occurredAt, data }: FactOf<'tier_changed'>): void {
    const tier = data.tier_id ? this.catalogue.tier(data.tier_id) : this.catalogue.tierFrom(own.planId, data.tier_key);
    this.settled.set(id, { tier_id: tier.id });
    this.#moveTo(own, occurredAt, tier, data.direction as TierDirection);
  }

  /** Ranks say whether it goes up; of equal ones whoever changed it. */
  #moveTo(own: Folded, at: Date, tier: TierFacts, told: TierDirection | null): void {
    if (tier.id === own.tierId) return;
    const { id: fromTierId, rank } = this.catalogue.tier(own.tierId);
    const byRank = tier.rank > rank ? TierDirection.UP : TierDirection.DOWN;
    const direction = tier.rank === rank && told !== null ? told : byRank;
    this.changes.push({ membership: this.memberships.length - 1, fromTierId, toTierId: tier.id, direction, at });
    Object.assign(own, { planId: tier.planId, tierId: tier.id });
    this.#mark(at);
  }

  #pastDue({ id, subjectId, occurredAt, data }: FactOf<'invoice_past_due'>, own: Folded | undefined): void {
    const { paid, overdue } = this.#account(subjectId!);
    if (paid.has(data.invoice_id) || overdue.has(data.invoice_id)) return;
    overdue.add(data.invoice_id);
    if (!own) return;
    const days = data.grace_days ?? this.catalogue.plan(own.planId).graceDays;
    this.settled.set(id, { grace_days: days });
    if (own.graceUntil === null && !own.reasons.includes(PAYMENT_PAST_DUE)) own.graceUntil = after(occurredAt, days * DAY_MS);
  }

  #paid({ subjectId, occurredAt, data }: FactOf<'invoice_paid'>, own: Folded | undefined): void {
    const account = this.#account(subjectId!);
    account.paid.add(data.invoice_id);
    account.overdue.delete(data.invoice_id);
    const period = data.period_start && data.period_end ? { start: new Date(data.period_start), end: new Date(data.period_end) } : null;
    if (period && (account.period === null || period.end > account.period.end)) account.period = period;
    if (!own) return;
    if (period && (own.periodEnd === null || period.end >= own.periodEnd)) [own.periodStart, own.periodEnd] = [period.start, period.end];
    if (account.overdue.size) return;
    own.graceUntil = null;
    this.#release(own, occurredAt, PAYMENT_PAST_DUE);
  }
}

/** Brand of each subscription, by the plan that it was created for. */
function brandsOf(facts: readonly Fact[], catalogue: Catalogue): Map<string, string> {
  const created = facts.filter((fact): fact is FactOf<'created'> => fact.kind === 'created');
  return new Map(created.map(({ subjectId, data }) => [subjectId!, catalogue.plan(data.plan_id).brandId]));
}

export interface FoldResult {
  timelines: readonly Timeline[];
  settled: Settled;
}

/**
 * What the facts of a user come to at an instant: the same whatever the order in which they arrived and however often. A fact of a
 * subscription that nobody has told of yet waits for it. Source: membership 7.1. @throws UnknownPlan.
 */
export function fold(facts: readonly Fact[], catalogue: Catalogue, now: Date): FoldResult {
  const brands = brandsOf(facts, catalogue);
  const settled = new Map<string, object>();
  const folds = new Map<string, BrandFold>();
  const foldOf = (brandId: string): BrandFold => {
    if (!folds.has(brandId)) folds.set(brandId, new BrandFold(brandId, catalogue, settled));
    return folds.get(brandId)!;
  };
  new Set([...brands.values(), ...facts.flatMap(({ brandId }) => brandId ?? [])]).forEach(foldOf);
  for (const fact of inOrder(facts)) {
    const brandId = fact.brandId ?? brands.get(fact.subjectId ?? '');
    const concerned = fact.kind === 'erased' ? [...folds.values()] : brandId ? [foldOf(brandId)] : [];
    for (const one of concerned) one.apply(fact);
  }
  for (const one of folds.values()) one.passTo(now, true);
  return { timelines: [...folds.values()], settled };
}
