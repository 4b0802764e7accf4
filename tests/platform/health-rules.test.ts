import { describe, expect, test } from 'vitest';
import {
  CanaryKind,
  CanaryProbeStatus,
  ServiceHealthStatus,
  SuiteHealthStatus,
  type CheckResult,
} from '../../subgraphs/platform/entities/health.js';
import { arrivalOf, nextHealth, shownStatus, uptimeOf, verdictOf, type HealthState } from '../../subgraphs/platform/rules/health.js';

const { UP, DEGRADED, DOWN, UNKNOWN } = ServiceHealthStatus;
const FRESH: HealthState = { status: UNKNOWN, recent: [], consecutiveFailures: 0 };
const WORDS: Record<string, CheckResult> = { o: 'ok', s: 'slow', f: 'failed' };
const after = (checks: string, from = FRESH): HealthState => [...checks].reduce((state, check) => nextHealth(state, WORDS[check]!), from);

describe('the health of a service', () => {
  test.each([
    ['o', UP],
    ['f', DEGRADED],
    ['ff', DEGRADED],
    ['fff', DOWN],
    ['oooooo', UP],
    ['os', DEGRADED],
    ['of', DEGRADED],
    ['ofooooo', DEGRADED],
    ['ofoooooo', UP],
    ['offoff', DEGRADED],
    ['offf', DOWN],
    ['fffo', DOWN],
    ['fffofo', DOWN],
    ['fffoo', UP],
    ['fffss', UP],
    ['fffoof', DEGRADED],
    ['fffooff', DEGRADED],
    ['fffoofff', DOWN],
    ['ffffffoo', UP],
  ])('after the checks %s is %s', (checks, status) => {
    expect(after(checks).status).toBe(status);
  });

  test('counts failures in a row, and looks back on six checks at most', () => {
    expect([after('ooff').consecutiveFailures, after('ooffo').consecutiveFailures, after('oooooooo').recent.length]).toEqual([2, 0, 6]);
  });

  const NOW = new Date('2026-11-21T12:00:00.000Z');
  test.each([
    [UP, null, UNKNOWN],
    [DOWN, 61_000, UNKNOWN],
    [DOWN, 60_000, DOWN],
    [UP, 0, UP],
  ])('%s, checked %s ms ago, is shown as %s', (status, age, shown) => {
    expect(shownStatus(status, age === null ? null : new Date(NOW.getTime() - age), NOW)).toBe(shown);
  });
});

test.each([
  [
    'payments',
    [
      [DOWN, true],
      [UP, false],
    ],
    SuiteHealthStatus.FAIL,
  ],
  [
    'follows',
    [
      [UP, true],
      [DOWN, false],
    ],
    SuiteHealthStatus.WARN,
  ],
  [
    'a degraded one',
    [
      [DEGRADED, true],
      [UP, false],
    ],
    SuiteHealthStatus.WARN,
  ],
  [
    'none',
    [
      [UP, true],
      [UP, false],
    ],
    SuiteHealthStatus.PASS,
  ],
  [
    'none, and one is not deployed',
    [
      [UP, true],
      [UNKNOWN, false],
    ],
    SuiteHealthStatus.PASS,
  ],
  ['nobody knows which', [[UNKNOWN, true]], SuiteHealthStatus.WARN],
] as const)('when what is down is %s, the suite says so', (_what, services, verdict) => {
  expect(verdictOf(services.map(([status, critical]) => ({ status, critical })))).toBe(verdict);
});

test.each([
  [CanaryKind.BUS, 5_000, CanaryProbeStatus.OK],
  [CanaryKind.BUS, 5_001, CanaryProbeStatus.LATE],
  [CanaryKind.BUS, 60_000, CanaryProbeStatus.LATE],
  [CanaryKind.BUS, 60_001, CanaryProbeStatus.LOST],
  [CanaryKind.WORKFLOW, 30_000, CanaryProbeStatus.OK],
  [CanaryKind.WORKFLOW, 30_001, CanaryProbeStatus.LATE],
  [CanaryKind.WORKFLOW, 300_001, CanaryProbeStatus.LOST],
])('a probe of kind %s that took %i ms is %s', (kind, latency, status) => {
  expect(arrivalOf(kind, latency)).toBe(status);
});

test('uptime is the share of a span outside the outages, also those that began before it or last', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 10, 21, hour));
  const outages = [
    { startedAt: at(-5), endedAt: at(1) },
    { startedAt: at(4), endedAt: at(5) },
    { startedAt: at(9), endedAt: null },
  ];
  expect(uptimeOf(at(0), at(10), outages)).toBeCloseTo(0.7);
  expect(uptimeOf(at(0), at(10), [])).toBe(1);
});
