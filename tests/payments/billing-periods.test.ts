import { afterEach, describe, expect, test } from 'vitest';
import { BillingInterval } from '../../subgraphs/payments/entities/enums-billing.js';
import { bankedAt, resumedAt } from '../../subgraphs/payments/rules/banked-time.js';
import { noticeAt } from '../../subgraphs/payments/rules/notices.js';
import {
  anchoredAt,
  boundary,
  intervalAround,
  nextBoundary,
  periodFrom,
  reanchored,
  secondsBetween,
  type Recurrence,
} from '../../subgraphs/payments/rules/periods.js';

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const { DAY, WEEK, MONTH, YEAR } = BillingInterval;
const every = (intervalCount: number, interval: BillingInterval): Recurrence => ({ interval, intervalCount });
const at = (text: string): Date => new Date(text.includes('T') ? text : `${text}T08:30:15.250Z`);
const days = (dates: readonly Date[]): string[] => dates.map(date => date.toISOString().slice(0, 10));

/** Anchor, cadence, and the first boundaries after it, by hand. */
const TABLE: [string, Recurrence, string[]][] = [
  ['2026-01-31', every(1, MONTH), ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30']],
  ['2028-01-31', every(1, MONTH), ['2028-02-29', '2028-03-31', '2028-04-30']],
  ['2027-12-30', every(1, MONTH), ['2028-01-30', '2028-02-29', '2028-03-30']],
  ['2026-12-29', every(1, MONTH), ['2027-01-29', '2027-02-28', '2027-03-29']],
  ['2026-01-30', every(1, MONTH), ['2026-02-28', '2026-03-30', '2026-04-30']],
  ['2026-02-28', every(1, MONTH), ['2026-03-28', '2026-04-28', '2026-05-28']],
  ['2026-11-30', every(3, MONTH), ['2027-02-28', '2027-05-30', '2027-08-30', '2027-11-30', '2028-02-29']],
  ['2026-08-31', every(6, MONTH), ['2027-02-28', '2027-08-31', '2028-02-29']],
  ['2026-12-31', every(2, MONTH), ['2027-02-28', '2027-04-30', '2027-06-30', '2027-08-31']],
  ['2028-02-29', every(1, YEAR), ['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']],
  ['2028-02-29', every(3, YEAR), ['2031-02-28', '2034-02-28', '2037-02-28', '2040-02-29']],
  ['2096-02-29', every(1, YEAR), ['2097-02-28', '2098-02-28', '2099-02-28', '2100-02-28', '2101-02-28']],
  ['2026-01-31', every(24, MONTH), ['2028-01-31', '2030-01-31']],
  ['2026-02-27', every(1, DAY), ['2026-02-28', '2026-03-01', '2026-03-02']],
  ['2028-02-27', every(1, DAY), ['2028-02-28', '2028-02-29', '2028-03-01']],
  ['2026-03-20', every(2, WEEK), ['2026-04-03', '2026-04-17', '2026-05-01']],
  ['2026-10-20', every(1, WEEK), ['2026-10-27', '2026-11-03']],
  ['2026-12-01', every(365, DAY), ['2027-12-01', '2028-11-30']],
];

describe.each([undefined, 'Pacific/Auckland', 'America/Los_Angeles'])('with the system time zone %s', system => {
  test.each(TABLE)('from %s, %o: %o', (anchor, recurrence, expected) => {
    if (system) process.env.TZ = system;
    const found = expected.map((_, index) => boundary(anchoredAt(at(anchor)), recurrence, index + 1));
    expect(days(found)).toEqual(expected);
    expect(found.every(one => one.toISOString().endsWith('T08:30:15.250Z'))).toBe(true);
  });

  test.each(['T00:00:00.000Z', 'T11:30:00.000Z', 'T23:59:59.999Z'])('a boundary keeps the time of the day %s', time => {
    if (system) process.env.TZ = system;
    expect(boundary(anchoredAt(at(`2026-01-31${time}`)), every(1, MONTH), 1)).toEqual(at(`2026-02-28${time}`));
  });

  test.each(TABLE)('each period from %s, %o, begins where the last one ended', (anchor, recurrence, expected) => {
    if (system) process.env.TZ = system;
    const from = anchoredAt(at(anchor));
    let start = from.at;
    for (const end of expected) {
      const period = periodFrom(from, recurrence, start);
      expect(days([period.end])).toEqual([end]);
      expect(intervalAround(from, recurrence, new Date(period.end.getTime() - 1))).toEqual(period);
      start = period.end;
    }
  });
});

describe('a boundary', () => {
  const monthly = every(1, MONTH);

  test('is later than the instant it follows', () => {
    const anchor = anchoredAt(at('2026-01-31'));
    expect(nextBoundary(anchor, monthly, at('2026-02-28T08:30:15.249Z'))).toEqual(at('2026-02-28'));
    expect(nextBoundary(anchor, monthly, at('2026-02-28'))).toEqual(at('2026-03-31'));
  });

  test('of an anchor that is to come ends the interval before it', () => {
    const anchor = anchoredAt(at('2026-03-31'));
    expect(nextBoundary(anchor, monthly, at('2026-03-05'))).toEqual(at('2026-03-31'));
    expect(intervalAround(anchor, monthly, at('2026-03-05'))).toEqual({ start: at('2026-02-28'), end: at('2026-03-31') });
    expect(intervalAround(anchor, monthly, at('2026-01-30'))).toEqual({ start: at('2025-12-31'), end: at('2026-01-31') });
  });

  test('keeps the day of the month over a change of cadence', () => {
    const changed = reanchored(anchoredAt(at('2026-01-31')), at('2026-02-28'));
    expect(days([1, 2, 3].map(n => boundary(changed, every(3, MONTH), n)))).toEqual(['2026-05-31', '2026-08-31', '2026-11-30']);
    expect(days([1, 2].map(n => boundary(reanchored(changed, at('2026-05-31')), every(1, YEAR), n)))).toEqual(['2027-05-31', '2028-05-31']);
    expect(days([boundary(changed, every(10, DAY), 1)])).toEqual(['2026-03-10']);
  });
});

describe('time that is paid', () => {
  test.each([
    ['2026-12-01T00:00:00.000Z', '2026-12-01T00:00:01.000Z', 1],
    ['2026-12-01T00:00:00.999Z', '2026-12-01T00:00:01.000Z', 1],
    ['2026-12-01T00:00:00.000Z', '2026-12-01T00:00:00.999Z', 0],
    ['2026-12-01T00:00:01.000Z', '2026-12-01T00:00:00.000Z', 0],
    ['2026-12-01T00:00:00.500Z', '2027-12-01T00:00:00.500Z', 31_536_000],
  ])('from %s to %s has %d seconds', (from, to, seconds) => expect(secondsBetween(at(from), at(to))).toBe(seconds));

  test('is kept to the second over any number of pauses', () => {
    let [now, period] = [at('2026-01-01T00:00:00.123Z'), { start: at('2026-01-01T00:00:00.123Z'), end: at('2026-01-31T00:00:00.123Z') }];
    const paid = secondsBetween(period.start, period.end);
    let used = 0;
    for (let n = 1; n <= 200; n++) {
      const pausedAt = new Date(now.getTime() + 7_777 + n);
      used += secondsBetween(now, pausedAt);
      const banked = bankedAt(pausedAt, period.end);
      now = new Date(pausedAt.getTime() + n * 86_400_123);
      ({ period } = resumedAt(now, banked));
    }
    expect(used + secondsBetween(now, period.end)).toBe(paid);
  });

  test('of 30 days, paused on day 10 for 40 days, ends 20 days after the resume, and counts on from there', () => {
    const banked = bankedAt(at('2026-01-11'), at('2026-01-31'));
    const { period, anchor } = resumedAt(at('2026-02-20'), banked);
    expect(banked).toBe(20 * 86_400);
    expect(period).toEqual({ start: at('2026-02-20'), end: at('2026-03-12') });
    expect(anchor).toEqual({ at: at('2026-03-12'), day: 12 });
  });

  test('that is over leaves nothing', () => expect(bankedAt(at('2026-02-01'), at('2026-01-31'))).toBe(0));
});

describe('the notice of a charge on 2026-12-31', () => {
  const charge = at('2026-12-31');
  test.each([
    ['a month', false, every(1, MONTH), '2026-11-30', '2026-12-24'],
    ['11 months', false, every(11, MONTH), '2026-01-31', '2026-12-24'],
    ['12 months', false, every(12, MONTH), '2025-12-31', '2026-12-01'],
    ['a year', false, every(1, YEAR), '2025-12-31', '2026-12-01'],
    ['a day, at its beginning', false, every(1, DAY), '2026-12-30', '2026-12-30'],
    ['a trial of 14 days', true, every(1, MONTH), '2026-12-17', '2026-12-28'],
    ['a trial of 2 days, at its beginning', true, every(1, YEAR), '2026-12-29', '2026-12-29'],
  ])('after %s', (_what, isTrial, recurrence, begun, expected) =>
    expect(noticeAt(charge, isTrial, recurrence, at(begun))).toEqual(at(expected)),
  );
});
