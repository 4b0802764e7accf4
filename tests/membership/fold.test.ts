import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MembershipPlanStatus } from '../../subgraphs/membership/entities/enums.js';
import { Catalogue } from '../../subgraphs/membership/rules/catalogue.js';
import type { Fact } from '../../subgraphs/membership/rules/facts.js';
import { fold } from '../../subgraphs/membership/rules/fold.js';
import { tenureDaysOf, tenureReachedAt, type Timeline } from '../../subgraphs/membership/rules/timeline.js';

const BRAND = 'brand';
const DAY = 86_400_000;
const BEGIN = Date.parse('2027-01-01T00:00:00.000Z');
const day = (days: number): Date => new Date(BEGIN + days * DAY);

const plan = (id: string) => ({
  id,
  key: id,
  brandId: BRAND,
  graceDays: 7,
  status: MembershipPlanStatus.PUBLISHED,
  createdAt: day(0),
});
const catalogue = new Catalogue(
  [plan('basic'), plan('plus')],
  [
    { id: 'b', planId: 'basic', key: 'basic', rank: 1 },
    { id: 'p', planId: 'plus', key: 'plus', rank: 2 },
  ],
);

let seq = 0;
/** A fact on a day; staff's and comps name the brand, all others their subscription. */
function fact(kind: Fact['kind'], days: number, data: object = {}, subjectId: string | null = 's1'): Fact {
  const own = ['granted', 'opted_out', 'erased'].includes(kind) || kind.startsWith('staff_');
  const about = { subjectId: own ? null : subjectId, brandId: own && kind !== 'erased' ? BRAND : null };
  return { id: `f${seq}`, seq: seq++, kind, occurredAt: day(days), data, ...about } as Fact;
}
const created = (days: number, sub = 's1', more: object = {}): Fact =>
  fact(
    'created',
    days,
    { plan_id: 'basic', tier_key: 'basic', source: 'checkout', period_end: day(days + 30).toISOString(), ...more },
    sub,
  );
const overdue = (days: number, invoice = 'i1', sub = 's1'): Fact => fact('invoice_past_due', days, { invoice_id: invoice }, sub);
const paid = (days: number, invoice = 'i1', sub = 's1', period: [number, number] | null = null): Fact =>
  fact(
    'invoice_paid',
    days,
    {
      invoice_id: invoice,
      period_start: period && day(period[0]).toISOString(),
      period_end: period && day(period[1]).toISOString(),
    },
    sub,
  );
const resumed = (days: number, end: number): Fact => fact('resumed', days, { period_end: day(end).toISOString() });
const cancelled = (days: number, reason = 'other', involuntary = false, sub = 's1'): Fact =>
  fact('cancelled', days, { reason, involuntary }, sub);
const granted = (days: number, end: number | null): Fact =>
  fact('granted', days, { plan_id: 'basic', tier_id: 'b', ends_at: end === null ? null : day(end).toISOString() });

const timelineOf = (facts: readonly Fact[], days: number): Timeline => fold(facts, catalogue, day(days)).timelines[0]!;
const dayOf = (at: Date | null): number | null => at && (at.getTime() - BEGIN) / DAY;

/** `active b 0-5`. */
const drawn = ({ segments }: Timeline): string[] =>
  segments.map(({ membership, status, tierId, from, to }) => `${membership} ${status} ${tierId} ${dayOf(from)}-${dayOf(to) ?? ''}`);

describe('the periods of a member', () => {
  test.each<[string, () => Fact[], number, string[]]>([
    ['one that goes on', () => [created(0)], 10, ['0 active b 0-']],
    ['a pause', () => [created(0), fact('paused', 3), resumed(5, 32)], 10, ['0 active b 0-3', '0 suspended b 3-5', '0 active b 5-']],
    ['a pause that is told late', () => [created(0), resumed(5, 32), fact('paused', 6)], 10, ['0 active b 0-6', '0 suspended b 6-']],
    ['a grace that is over', () => [created(0), overdue(2)], 10, ['0 active b 0-9', '0 suspended b 9-']],
    ['a grace that ends at this instant', () => [created(0), overdue(2)], 9, ['0 active b 0-9', '0 suspended b 9-']],
    ['a grace that is not', () => [created(0), overdue(2)], 8, ['0 active b 0-']],
    ['an invoice paid at the last instant', () => [created(0), overdue(2), paid(9)], 10, ['0 active b 0-']],
    ['two invoices, one paid', () => [created(0), overdue(2), overdue(3, 'i2'), paid(4)], 10, ['0 active b 0-9', '0 suspended b 9-']],
    ['an invoice that was paid before it was overdue', () => [created(0), paid(1), overdue(2)], 20, ['0 active b 0-']],
    ['an invoice of another subscription', () => [created(0), overdue(2, 'i1', 'other')], 20, ['0 active b 0-']],
    ['a lapse', () => [created(0), cancelled(4)], 10, ['0 active b 0-4', '0 lapsed b 4-']],
    ['a return', () => [created(0), cancelled(4), created(6, 's2')], 10, ['0 active b 0-4', '0 lapsed b 4-6', '1 active b 6-']],
    [
      'a subscription that is told of twice, once after its end',
      () => [created(0), cancelled(4), created(6)],
      10,
      ['0 active b 0-4', '0 lapsed b 4-'],
    ],
    ['a comp', () => [granted(0, 3)], 10, ['0 active b 0-3', '0 lapsed b 3-']],
    [
      'a comp that a subscription takes over',
      () => [granted(0, 3), created(2, 's1', { plan_id: 'plus', tier_key: 'plus' })],
      10,
      ['0 active b 0-2', '0 active p 2-'],
    ],
    [
      'two reasons, of which one goes',
      () => [created(0), fact('paused', 1), fact('staff_suspended', 2), resumed(3, 33), fact('staff_unsuspended', 4)],
      10,
      ['0 active b 0-1', '0 suspended b 1-4', '0 active b 4-'],
    ],
    [
      'a lost dispute that is won after all',
      () => [created(0), fact('dispute_lost', 1, { dispute_id: 'd' }), fact('dispute_won', 3, { dispute_id: 'd' })],
      10,
      ['0 active b 0-1', '0 suspended b 1-3', '0 active b 3-'],
    ],
    [
      'two lost disputes, of which one is won after all',
      () => [
        created(0),
        fact('dispute_lost', 1, { dispute_id: 'd' }),
        fact('dispute_lost', 2, { dispute_id: 'e' }),
        fact('dispute_won', 3, { dispute_id: 'd' }),
      ],
      10,
      ['0 active b 0-1', '0 suspended b 1-'],
    ],
    [
      'an upgrade to another plan',
      () => [created(0), fact('tier_changed', 2, { tier_key: 'plus', direction: 'up' })],
      9,
      ['0 active b 0-2', '0 active p 2-'],
    ],
    ['what holds no time', () => [created(0), fact('paused', 1), resumed(1, 31)], 9, ['0 active b 0-']],
    [
      'an erasure, after which nothing begins',
      () => [created(0), fact('erased', 2), created(3, 's2'), granted(4, null)],
      9,
      ['0 active b 0-2', '0 lapsed b 2-'],
    ],
  ])('show %s', (_name, facts, now, expected) => {
    expect(drawn(timelineOf(facts(), now))).toEqual(expected);
  });
});

describe('the period that is paid for', () => {
  test.each<[string, () => Fact[], [number | null, number | null]]>([
    ['of a subscription', () => [created(0)], [0, 30]],
    ['of an invoice that was paid before the subscription was told of', () => [paid(0, 'i1', 's1', [0, 31]), created(0.5)], [0, 31]],
    ['moves with a renewal', () => [created(0), paid(30, 'i2', 's1', [30, 61])], [30, 61]],
    ['does not move back', () => [created(0), paid(30, 'i2', 's1', [30, 61]), paid(31, 'i0', 's1', [0, 30])], [30, 61]],
    ['continues after a pause', () => [created(0), fact('paused', 10), resumed(50, 70)], [0, 70]],
    ['is the next one where staff waived its invoice', () => [created(0), overdue(30), resumed(35, 60)], [30, 60]],
    ['of a comp has no beginning', () => [granted(0, 90)], [null, 90]],
    ['of a comp without end is none', () => [granted(0, null)], [null, null]],
  ])('%s', (_name, facts, expected) => {
    const { periodStart, periodEnd } = timelineOf(facts(), 5).memberships.at(-1)!;
    expect([dayOf(periodStart), dayOf(periodEnd)]).toEqual(expected);
  });
});

describe('whoever has left', () => {
  test.each<[string, () => Fact[], boolean]>([
    ['of their own will is asked back', () => [created(0), cancelled(4)], true],
    ['when a comp ended is asked back', () => [granted(0, 3)], true],
    ['with debts is not', () => [created(0), cancelled(4, 'payment_failed', true)], false],
    ['by force without debts is asked back', () => [created(0), cancelled(4, 'ineligible', true)], true],
    ['by force with an open invoice is not', () => [created(0), overdue(2), cancelled(4, 'other', true)], false],
    ['by fraud is not', () => [created(0), cancelled(4, 'fraud')], false],
    ['with a lost dispute is not', () => [created(0), fact('dispute_lost', 1, { dispute_id: 'd' }), cancelled(4)], false],
    ['by staff is not', () => [created(0), fact('staff_lapsed', 4)], false],
  ])('%s', (_name, facts, expected) => {
    expect(timelineOf(facts(), 10).memberships.at(-1)!.mayBeWonBack).toBe(expected);
  });
});

test('days as a member are those that are active, over all memberships', () => {
  const timeline = timelineOf([created(0), fact('paused', 10), resumed(20, 50), cancelled(25), created(40, 's2')], 47);
  expect(dayOf(tenureReachedAt(timeline.segments, 10))).toBe(10);
  expect(dayOf(tenureReachedAt(timeline.segments, 12))).toBe(22);
  expect(dayOf(tenureReachedAt(timeline.segments, 20))).toBe(45);
  expect(tenureReachedAt(timelineOf([created(0), cancelled(5)], 9).segments, 6)).toBeNull();
  expect(tenureDaysOf(15 * DAY, day(40), day(47))).toBe(22);
});

/** Any facts of two subscriptions, comps and staff, on days of two months. */
const anyFact: fc.Arbitrary<Fact> = fc
  .record({
    days: fc.integer({ min: 0, max: 60 }).map(half => half / 2),
    sub: fc.constantFrom('s1', 's2', 's3'),
    invoice: fc.constantFrom('i1', 'i2'),
    make: fc.constantFrom<((days: number, sub: string, invoice: string) => Fact)[]>(
      (days, sub) => created(days, sub),
      (days, sub) => created(days, sub, { plan_id: 'plus', tier_key: 'plus', source: 'gift' }),
      (days, sub) => fact('paused', days, {}, sub),
      (days, sub) => fact('resumed', days, { period_end: day(days + 20).toISOString() }, sub),
      (days, sub) => cancelled(days, 'other', false, sub),
      (days, sub) => fact('tier_changed', days, { tier_key: 'plus', direction: 'up' }, sub),
      (days, sub) => fact('tier_changed', days, { tier_key: 'basic', direction: 'down' }, sub),
      (days, sub, invoice) => overdue(days, invoice, sub),
      (days, sub, invoice) => paid(days, invoice, sub, [days, days + 30]),
      (days, sub) => fact('dispute_lost', days, { dispute_id: 'd' }, sub),
      (days, sub) => fact('dispute_won', days, { dispute_id: 'd' }, sub),
      days => granted(days, days + 5),
      days => fact('staff_suspended', days),
      days => fact('staff_unsuspended', days),
      days => fact('staff_lapsed', days),
      days => fact('opted_out', days),
    ),
  })
  .map(({ days, sub, invoice, make }) => make(days, sub, invoice));

/** The state without the order in which facts were given. */
const stateOf = (facts: readonly Fact[]): unknown =>
  fold(facts, catalogue, day(70)).timelines.map(({ memberships, segments, changes, optedOut }) => ({
    memberships,
    segments,
    changes,
    optedOut,
  }));

describe('any facts', () => {
  test('come to the same state in any order and however often', () => {
    const shuffled = fc
      .array(anyFact, { minLength: 1, maxLength: 25 })
      .chain(facts =>
        fc.tuple(
          fc.constant(facts),
          fc.shuffledSubarray(facts, { minLength: facts.length, maxLength: facts.length }),
          fc.array(fc.nat({ max: facts.length - 1 }), { maxLength: 10 }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([facts, order, repeated]) => {
        const again = [...order, ...repeated.map((index, time) => ({ ...facts[index]!, id: `again${time}` }) as Fact)];
        const withoutComps = again.filter((one, index) => one.kind !== 'granted' || index < order.length); // a comp is one act of staff, not a message
        expect(stateOf(withoutComps)).toEqual(stateOf(facts));
      }),
      { numRuns: 400 },
    );
  });

  test('leave no gap between periods, none that overlaps, none without length, and one membership at most that has not lapsed', () => {
    fc.assert(
      fc.property(fc.array(anyFact, { minLength: 1, maxLength: 25 }), facts => {
        for (const { segments, memberships } of fold(facts, catalogue, day(70)).timelines) {
          segments.forEach((one, index) => {
            expect(one.to === null).toBe(index === segments.length - 1);
            if (one.to) expect(one.to.getTime()).toBeGreaterThan(one.from.getTime());
            if (index > 0) expect(segments[index - 1]!.to).toEqual(one.from);
          });
          memberships.forEach((one, index) => {
            expect(one.status === 'suspended').toBe(one.reasons.length > 0);
            if (index < memberships.length - 1) expect(one.status).toBe('lapsed');
          });
        }
      }),
      { numRuns: 400 },
    );
  });
});
