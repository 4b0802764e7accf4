import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { move } from '../../runtime/request/states.js';
import { DAY_MS } from '../../runtime/time/durations.js';
import { BiomarkerRangeKind as Kind, BiomarkerRangeSex as Sex } from '../../subgraphs/clinical/entities/biomarker.js';
import { BiomarkerObservationComparator as Comparator } from '../../subgraphs/clinical/entities/result.js';
import { InterventionStatus } from '../../subgraphs/clinical/entities/intervention.js';
import { RetestCycleStatus, RetestCycleTiming as Timing } from '../../subgraphs/clinical/entities/retest-cycle.js';
import { roundHalfEven } from '../../subgraphs/clinical/entities/rounding.js';
import {
  dateIn,
  firstStatus,
  INTERVENTION_STATES,
  type InterventionTrigger,
  phaseOn,
  plusDays,
} from '../../subgraphs/clinical/rules/intervention.js';
import { chooseRange, judge, limitBeyond, type RangeRow } from '../../subgraphs/clinical/rules/ranges.js';
import {
  brandSettings,
  type Candidate,
  datesOf,
  daysBetween,
  nextPromptAt,
  RETEST_STATES,
  retestSettings,
  type RetestTrigger,
  sweepAction,
  type SweepAction,
  timingOf,
} from '../../subgraphs/clinical/rules/retest-cycle.js';
import { statsOf } from '../../subgraphs/clinical/rules/retest-stats.js';

const at = (days: number): Date => new Date(Date.parse('2026-08-01T08:00:00.000Z') + days * DAY_MS);

/** Every (state, trigger) pair with the next state, or null for a conflict. */
const everyPair = <S extends string, T extends string>(
  states: readonly S[],
  triggers: readonly T[],
  next: Partial<Record<S, Partial<Record<T, S>>>>,
) => states.flatMap(state => triggers.map(trigger => [state, trigger, next[state]?.[trigger] ?? null] as [S, T, S | null]));

describe('re-test cycle states', () => {
  const pairs = everyPair(Object.values(RetestCycleStatus), ['prompt', 'record', 'expire'] as RetestTrigger[], {
    baseline_set: { prompt: RetestCycleStatus.PROMPTED, record: RetestCycleStatus.RETESTED, expire: RetestCycleStatus.EXPIRED },
    prompted: { prompt: RetestCycleStatus.PROMPTED, record: RetestCycleStatus.RETESTED, expire: RetestCycleStatus.EXPIRED },
  });
  test.each(pairs)('%s, %s -> %s', (state, trigger, next) => {
    const run = () => move(RETEST_STATES, 're-test cycle', state, trigger);
    if (next) expect(run()).toBe(next);
    else expect(run).toThrow(`a re-test cycle that is ${state} cannot ${trigger}`);
  });
});

describe('intervention states', () => {
  const S = InterventionStatus;
  const triggers: InterventionTrigger[] = ['activate', 'require_consult', 'pause', 'resume', 'stop', 'complete'];
  const pairs = everyPair(Object.values(S), triggers, {
    proposed: { activate: S.ACTIVE, require_consult: S.PENDING_CONSULT, stop: S.CANCELLED },
    pending_consult: { stop: S.CANCELLED },
    active: { pause: S.PAUSED, stop: S.STOPPED, complete: S.COMPLETED },
    paused: { resume: S.ACTIVE, stop: S.STOPPED, complete: S.COMPLETED },
  });
  test.each(pairs)('%s, %s -> %s', (state, trigger, next) => {
    const run = () => move(INTERVENTION_STATES, 'intervention', state, trigger);
    if (next) expect(run()).toBe(next);
    else expect(run).toThrow(/cannot/);
  });

  test.each([
    [true, true, S.PROPOSED],
    [true, false, S.PROPOSED],
    [false, true, S.PENDING_CONSULT],
    [false, false, S.ACTIVE],
  ])('proposed %s, consult %s -> %s', (proposed, consult, status) => {
    expect(firstStatus(proposed, consult)).toBe(status);
  });

  test('a civil date is that of the time zone', () => {
    expect(dateIn('UTC', new Date('2026-08-01T23:30:00Z'))).toBe('2026-08-01');
    expect(dateIn('Pacific/Auckland', new Date('2026-08-01T23:30:00Z'))).toBe('2026-08-02');
    expect(plusDays('2026-12-31', 1)).toBe('2027-01-01');
  });

  test('a phase ends before its last day', () => {
    const phases = [
      { name: 'one', startDay: 0, endDay: 28, doses: [], checkIns: [] },
      { name: 'two', startDay: 28, endDay: 90, doses: [], checkIns: [] },
    ];
    const on = (day: number) => phaseOn(phases, '2026-08-01', plusDays('2026-08-01', day));
    expect([-1, 0, 27, 28, 89, 90].map(on)).toEqual([null, 'one', 'one', 'two', 'two', null]);
  });
});

describe('dates of a cycle', () => {
  test('are exact multiples of 86,400 s, over changes of summer time', () => {
    expect(datesOf(at(0), 90, 30)).toEqual({
      retestDueAt: new Date('2026-10-30T08:00:00.000Z'),
      expiresAt: new Date('2026-11-29T08:00:00.000Z'),
    });
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') }),
        fc.integer({ min: 14, max: 365 }),
        fc.integer({ min: 0, max: 90 }),
        (start, window, grace) => {
          const { retestDueAt, expiresAt } = datesOf(start, window, grace);
          return (
            retestDueAt.getTime() - start.getTime() === window * DAY_MS && expiresAt.getTime() - retestDueAt.getTime() === grace * DAY_MS
          );
        },
      ),
    );
  });

  test('days to re-test are whole days, rounded down', () =>
    expect([0.9, 1, 94.99, 95].map(days => daysBetween(at(0), at(days)))).toEqual([0, 1, 94, 95]));

  test.each([
    [44.999, Timing.EARLY],
    [45, Timing.IN_WINDOW],
    [97, Timing.IN_WINDOW],
    [97.001, Timing.LATE],
  ])('a follow-up on day %d of 90 is %s', (days, timing) => {
    expect(timingOf(at(0), at(90), at(days))).toBe(timing);
  });
});

const settings = { repromptDays: 14, maxPrompts: 3, sweepEveryMs: 21_600_000 };

describe('the next prompt', () => {
  const cycle = { retestDueAt: at(90), expiresAt: at(120), promptCount: 0, lastPromptedAt: null };
  test.each([
    ['at the due date', cycle, at(90)],
    ['14 days after the last', { ...cycle, promptCount: 1, lastPromptedAt: at(91) }, at(105)],
    ['never after the third', { ...cycle, promptCount: 3, lastPromptedAt: at(100) }, null],
    ['at expiry', { ...cycle, promptCount: 1, lastPromptedAt: at(106) }, at(120)],
    ['never after expiry', { ...cycle, promptCount: 1, lastPromptedAt: at(107) }, null],
  ])('is %s', (_what, one, expected) => expect(nextPromptAt(one, settings)).toEqual(expected));
});

describe('what a sweep does with an open cycle', () => {
  const open: Candidate = {
    retestDueAt: at(90).getTime(),
    expiresAt: at(120).getTime(),
    promptCount: 0,
    lastPromptedAt: null,
    followUp: false,
    labInProgress: false,
    interventionStatus: InterventionStatus.ACTIVE,
  };
  const on = { cycle: true, prompt: () => true };
  const off = { cycle: false, prompt: () => false };
  const late = { promptCount: 1, lastPromptedAt: at(90).getTime() };
  test.each<[string, Partial<Candidate>, number, typeof on, SweepAction]>([
    ['before the due date', {}, 89.999, on, 'wait'],
    ['at the due date', {}, 90, on, 'prompt'],
    ['due, flag off', {}, 90, off, 'skip_flag'],
    ['due again', late, 104, on, 'prompt'],
    ['prompted too lately', late, 103.999, on, 'skip_limit'],
    ['prompted too often', { promptCount: 3, lastPromptedAt: at(90).getTime() }, 119, on, 'skip_limit'],
    ['a lab order is under way', { labInProgress: true }, 90, on, 'skip_lab'],
    ['the intervention is paused', { interventionStatus: InterventionStatus.PAUSED }, 90, on, 'prompt'],
    ['the intervention is completed', { interventionStatus: InterventionStatus.COMPLETED }, 90, on, 'prompt'],
    ['the intervention was stopped', { interventionStatus: InterventionStatus.STOPPED }, 90, on, 'wait'],
    ['the intervention was cancelled', { interventionStatus: InterventionStatus.CANCELLED }, 90, on, 'wait'],
    ['at expiry', {}, 120, on, 'prompt'],
    ['after expiry', {}, 120.0001, on, 'expire'],
    ['after expiry, flags off: expiry has no flag', {}, 121, off, 'expire'],
    ['after expiry of a stopped intervention', { interventionStatus: InterventionStatus.STOPPED }, 121, on, 'expire'],
    ['a follow-up is stored', { followUp: true }, 10, on, 'record'],
    ['a follow-up is stored, after expiry', { followUp: true }, 121, on, 'record'],
    ['a follow-up is stored, flag off, after expiry', { followUp: true }, 121, off, 'wait'],
  ])('%s: %s', (_what, change, days, flags, action) =>
    expect(sweepAction({ ...open, ...change }, at(days).getTime(), settings, flags)).toBe(action),
  );

  test('asks the prompt flag only where it decides', () => {
    const flags = {
      cycle: true,
      prompt: () => {
        throw new Error('asked');
      },
    };
    for (const days of [10, 121]) expect(() => sweepAction(open, at(days).getTime(), settings, flags)).not.toThrow();
    expect(() => sweepAction(open, at(91).getTime(), settings, flags)).toThrow('asked');
  });
});

describe('settings', () => {
  const read = (env: Record<string, string> = {}) => retestSettings(name => env[name]);
  test('have the defaults of the specification', () =>
    expect(read()).toEqual({ repromptDays: 14, maxPrompts: 3, sweepEveryMs: 6 * 3_600_000 }));
  test('can be set', () =>
    expect(read({ RETEST_REPROMPT_DAYS: '7', RETEST_MAX_PROMPTS: '5', RETEST_SWEEP_INTERVAL: 'PT1H' })).toEqual({
      repromptDays: 7,
      maxPrompts: 5,
      sweepEveryMs: 3_600_000,
    }));
  test.each([
    ['RETEST_REPROMPT_DAYS', '0'],
    ['RETEST_REPROMPT_DAYS', '91'],
    ['RETEST_MAX_PROMPTS', '11'],
    ['RETEST_MAX_PROMPTS', '1.5'],
    ['RETEST_SWEEP_INTERVAL', '6h'],
    ['RETEST_SWEEP_INTERVAL', 'P2D'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name);
  });

  test.each<[string, unknown, object | null]>([
    ['nothing', null, {}],
    ['a part', { max_prompts: 1 }, { maxPrompts: 1 }],
    ['both', { reprompt_days: 90, max_prompts: 10 }, { repromptDays: 90, maxPrompts: 10 }],
    ['too many', { max_prompts: 11 }, null],
    ['a fraction', { reprompt_days: 1.5 }, null],
    ['a word', { reprompt_days: 'often' }, null],
  ])('of a brand: %s', (_what, config, change) => {
    if (change) expect(brandSettings(read(), config)).toEqual({ ...read(), ...change });
    else expect(() => brandSettings(read(), config)).toThrow(/must be a whole number/);
  });
});

describe('range choice', () => {
  const row = (low: number, change: Partial<RangeRow> = {}): RangeRow => ({
    kind: Kind.REFERENCE,
    sex: Sex.ANY,
    ageFrom: null,
    ageTo: null,
    condition: null,
    performer: null,
    low,
    high: null,
    ...change,
  });
  const rows = [
    row(1),
    row(2, { ageFrom: 18, ageTo: 65 }),
    row(3, { ageFrom: 30, ageTo: 40 }),
    row(4, { sex: Sex.FEMALE }),
    row(5, { condition: 'pregnancy' }),
    row(6, { performer: 'lab_a' }),
    row(7, { kind: Kind.OPTIMAL }),
  ];
  const nobody = { performer: null, sex: null, age: null, conditions: [] };
  test.each([
    ['nothing known', nobody, 1],
    ['age in the narrower span', { ...nobody, age: 35 }, 3],
    ['age at the end of the span, which it excludes', { ...nobody, age: 40 }, 2],
    ['age at the start of the span, which it includes', { ...nobody, age: 18 }, 2],
    ['age outside', { ...nobody, age: 17 }, 1],
    ['sex beats age', { ...nobody, age: 35, sex: Sex.FEMALE as const }, 4],
    ['a condition beats sex', { ...nobody, sex: Sex.FEMALE as const, conditions: ['pregnancy'] }, 5],
    ['the performer beats all', { performer: 'lab_a', sex: Sex.FEMALE as const, age: 35, conditions: ['pregnancy'] }, 6],
  ])('%s', (_what, subject, low) => expect(chooseRange(rows, Kind.REFERENCE, subject)!.low).toBe(low));

  test('finds none where none fits', () => expect(chooseRange([row(1, { sex: Sex.MALE })], Kind.REFERENCE, nobody)).toBeNull());

  const exact = (value: number) => ({ value, comparator: null });
  const two = (kind: Kind, low: number, high: number) => row(low, { kind, high });
  const limits = [two(Kind.REFERENCE, 4, 5), two(Kind.CRITICAL, 3, 6), two(Kind.PANIC, 2, 7)];

  test.each([
    ['inside', exact(4.5), 'n', null],
    ['at the lower edge', exact(4), 'n', null],
    ['at the upper edge', exact(5), 'n', null],
    ['off the edge by the rounding of a conversion', exact(5 * (1 + 1e-13)), 'n', null],
    ['off the edge by more', exact(5 * (1 + 1e-11)), 'h', null],
    ['below', exact(3.9), 'l', null],
    ['at a critical limit', exact(6), 'h', null],
    ['beyond a critical limit', exact(6.1), 'hh', Kind.CRITICAL],
    ['below a critical limit', exact(2.9), 'll', Kind.CRITICAL],
    ['at a panic limit', exact(7), 'hh', Kind.CRITICAL],
    ['beyond a panic limit, which is beyond the critical one, too', exact(7.1), 'hh', Kind.PANIC],
    ['an interval wholly above', { value: 5.5, comparator: Comparator.GT }, 'h', null],
    ['an interval that begins at the reference', { value: 5, comparator: Comparator.GT }, null, null],
    ['an interval that ends below', { value: 1, comparator: Comparator.LT }, 'll', Kind.PANIC],
    ['an interval that ends inside', { value: 4.5, comparator: Comparator.LT }, null, null],
    ['an interval that begins inside', { value: 4.5, comparator: Comparator.GE }, null, null],
  ])('a result %s', (_where, measured, interpretation, limit) => {
    expect(limitBeyond(limits, nobody, measured)).toBe(limit);
    expect(judge(limits, nobody, measured).interpretation).toBe(interpretation);
  });

  test('says whether the person or only the marker decided', () => {
    expect(judge(rows, { ...nobody, sex: Sex.FEMALE }, null).basis).toBe('qualified');
    expect(judge(rows, nobody, null).basis).toBe('unqualified');
    expect(judge([], nobody, null).basis).toBe('none');
  });
});

describe('statistics', () => {
  const row = (status: RetestCycleStatus, cycles: number, more = {}) => ({ status, cycles, days: 0, organic: 0, late: 0, ...more });
  test('rate to 4 decimals, average to 1', () => {
    const stats = statsOf(
      [
        row(RetestCycleStatus.RETESTED, 6, { days: 584, organic: 2 }),
        row(RetestCycleStatus.EXPIRED, 3, { late: 1 }),
        row(RetestCycleStatus.BASELINE_SET, 4),
        row(RetestCycleStatus.PROMPTED, 2),
      ],
      false,
    );
    expect(stats).toEqual({
      retestRate: 0.6667,
      counts: { baselineSet: 4, prompted: 2, retested: 6, expired: 3 },
      closed: 9,
      averageDaysToRetest: 97.3,
      organicRetested: 2,
      promptedRetested: 4,
      lateFollowUps: 1,
    });
  });
  test('hide rate and average of a filtered cell with fewer than 5 closed cycles', () => {
    const four = [row(RetestCycleStatus.RETESTED, 4, { days: 400 })];
    expect(statsOf(four, true)).toMatchObject({ retestRate: null, averageDaysToRetest: null, closed: 4 });
    expect(statsOf(four, false)).toMatchObject({ retestRate: 1, averageDaysToRetest: 100 });
    expect(statsOf([...four, row(RetestCycleStatus.EXPIRED, 1)], true)).toMatchObject({ retestRate: 0.8, averageDaysToRetest: 100 });
  });
});

describe('rounding half to even', () => {
  test.each([
    [0.125, 2, 0.12],
    [0.375, 2, 0.38],
    [2.5, 0, 2],
    [3.5, 0, 4],
    [-0.125, 2, -0.12],
    [-2.5, 0, -2],
    [1.005, 2, 1],
    [1.015, 2, 1.02],
    [-0.49732, 1, -0.5],
    [30.208256, 2, 30.21],
    [-0.04, 1, 0],
    [1e15, 2, 1e15],
  ])('%d to %d places is %d', (value, places, rounded) => expect(roundHalfEven(value, places)).toBe(rounded));
});
