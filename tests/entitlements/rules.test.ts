import { describe, expect, test } from 'vitest';
import {
  EntitlementAccess as Access,
  EntitlementDenialReason as Reason,
  EntitlementFailMode,
  EntitlementFeatureKind as Kind,
  EntitlementOverrideState as State,
  EntitlementSource as Source,
  EntitlementUsageReset as Reset,
} from '../../subgraphs/entitlements/entities/enums.js';
import { periodOf } from '../../subgraphs/entitlements/rules/periods.js';
import { endOf, stateOf } from '../../subgraphs/entitlements/rules/override.js';
import { nextEdge, resolve, tried, type FeatureFacts, type OverrideFacts } from '../../subgraphs/entitlements/rules/resolution.js';
import { featureViolations, overrideViolations } from '../../subgraphs/entitlements/rules/validation.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const at = (ms: number): Date => new Date(NOW.getTime() + ms);
const HOUR = 3_600_000;

const feature = (more: Partial<FeatureFacts> = {}): FeatureFacts => ({
  key: 'some.feature',
  kind: Kind.BOOLEAN,
  defaultValue: null,
  usageReset: Reset.NEVER,
  softLimit: false,
  failMode: EntitlementFailMode.CLOSED,
  ...more,
});
let made = 0;
const override = (more: Partial<OverrideFacts> = {}): OverrideFacts => ({
  id: `0190b3a0-0000-7000-8000-${String(++made).padStart(12, '0')}`,
  allow: true,
  value: null,
  limit: null,
  startsAt: at(-HOUR),
  endsAt: null,
  source: Source.OVERRIDE,
  createdAt: at(-HOUR),
  ...more,
});

/** What is known of somebody who is a member of nothing. */
const about = (overrides: readonly OverrideFacts[]) => ({ overrides, grants: [], memberships: [], isFallback: false });
const entitled = (one: FeatureFacts, overrides: readonly OverrideFacts[], used = 0) =>
  resolve(one, about(overrides), () => used, NOW).entitlement;

describe('the resolution of a feature', () => {
  /** Every combination: what an override decides (if any), whether there is a purchase, whether everybody has it. */
  const OVERRIDES = {
    none: [],
    allow: [override()],
    deny: [override({ allow: false })],
    scheduled: [override({ startsAt: at(1) })],
    ended: [override({ endsAt: NOW })],
    'newer deny': [override({ createdAt: at(-2) }), override({ allow: false, createdAt: at(-1) })],
    'newer allow': [override({ allow: false, createdAt: at(-2) }), override({ createdAt: at(-1) })],
    'deny and allow of one instant': [override(), override({ allow: false }), override()],
    'ended deny over allow': [override({ createdAt: at(-2) }), override({ allow: false, createdAt: at(-1), endsAt: NOW })],
  } as const;
  const DECISIONS: Record<keyof typeof OVERRIDES, boolean | null> = {
    none: null,
    allow: true,
    deny: false,
    scheduled: null,
    ended: null,
    'newer deny': false,
    'newer allow': true,
    'deny and allow of one instant': false,
    'ended deny over allow': true,
  };
  const table = (Object.keys(OVERRIDES) as (keyof typeof OVERRIDES)[]).flatMap(name =>
    [true, false].flatMap(bought => [true, false, null].map(given => ({ name, bought, given }))),
  );

  const granted = (by: Source) => ({ access: Access.GRANTED, reason: null, source: by, value: true });
  const expectedOf = (decision: boolean | null, bought: boolean, given: boolean | null) => {
    if (decision === false) return { access: Access.DENIED, reason: Reason.OVERRIDE_DENY, source: Source.OVERRIDE, value: null };
    if (decision) return granted(Source.OVERRIDE);
    if (bought) return granted(Source.PURCHASE);
    return given ? granted(Source.DEFAULT) : { access: Access.DENIED, reason: Reason.NOT_IN_TIER, source: Source.DEFAULT, value: null };
  };

  test.each(table)('override $name, purchase $bought, default $given', ({ name, bought, given }) => {
    const facts = [...OVERRIDES[name], ...(bought ? [override({ source: Source.PURCHASE })] : [])];
    const { access, reason, source, value } = entitled(feature({ defaultValue: given }), facts);
    expect({ access, reason, source, value }).toEqual(expectedOf(DECISIONS[name], bought, given));
  });

  test('a config feature has the value of the rule that decides, false being one', () => {
    const config = feature({ kind: Kind.CONFIG, defaultValue: 'standard' });
    expect(entitled(config, [])).toMatchObject({ value: 'standard', source: Source.DEFAULT });
    expect(entitled(config, [override({ value: { quality: 'high' } })])).toMatchObject({ value: { quality: 'high' } });
    expect(entitled({ ...config, defaultValue: false }, [])).toMatchObject({ access: Access.GRANTED, value: false });
  });

  test.each([
    [5, 0, false, Access.GRANTED, 5],
    [5, 4, false, Access.GRANTED, 1],
    [5, 5, false, Access.LIMIT_REACHED, 0],
    [5, 9, false, Access.LIMIT_REACHED, 0],
    [5, 9, true, Access.GRANTED, 0],
    [0, 0, false, Access.LIMIT_REACHED, 0],
    [null, 9, false, Access.GRANTED, null],
  ])('limit %s, used %s, soft %s: %s with %s left', (limit, used, softLimit, access, remaining) => {
    const metered = feature({ kind: Kind.METERED, softLimit, usageReset: Reset.DAY });
    const reason = access === Access.LIMIT_REACHED ? Reason.LIMIT_REACHED : null;
    const answer = entitled(metered, [override({ limit })], used);
    expect(answer).toMatchObject({ access, reason, limit, used, remaining, value: null, resetsAt: new Date('2026-11-22T00:00:00Z') });
  });

  test('names every rule in order, and which one decides', () => {
    const rules = tried(feature({ defaultValue: true }), about([override({ source: Source.PURCHASE })]), NOW);
    expect(rules.map(one => [one.rule, one.outcome?.allow ?? null, one.decisive])).toEqual([
      [Source.OVERRIDE, null, false],
      [Source.PURCHASE, true, true],
      [Source.TIER, null, false],
      [Source.DEFAULT, true, false],
    ]);
    expect(tried(feature(), about([]), NOW).map(one => one.decisive)).toEqual([false, false, false, true]);
  });
});

describe('edges of time', () => {
  test.each([
    ['before the start', at(1), at(2), State.SCHEDULED],
    ['at the start', NOW, at(1), State.ACTIVE],
    ['just before the end', at(-1), at(1), State.ACTIVE],
    ['at the end', at(-1), NOW, State.ENDED],
    ['without an end', at(-1), null, State.ACTIVE],
    ['revoked before it began', at(5), at(5), State.SCHEDULED],
  ])('%s', (_when, startsAt, endsAt, state) => expect(stateOf({ startsAt, endsAt }, NOW)).toBe(state));

  test('what is ended now ends now, and what has not begun where it would begin', () => {
    expect([at(-1), NOW, at(5)].map(startsAt => endOf({ startsAt, endsAt: null }, NOW))).toEqual([NOW, NOW, at(5)]);
  });

  test('one that was revoked before it began never begins', () => {
    const { startsAt, endsAt } = { startsAt: at(5), endsAt: at(5) };
    expect(stateOf({ startsAt, endsAt }, at(5))).toBe(State.ENDED);
  });

  test('the next one is the earliest of starts, ends and the end of the period that lies ahead', () => {
    const metered = feature({ kind: Kind.METERED, usageReset: Reset.DAY, defaultValue: 3 });
    const facts = [override({ endsAt: at(-1) }), override({ startsAt: at(9), endsAt: at(20) }), override({ limit: 2, endsAt: at(12) })];
    expect(nextEdge(entitled(metered, facts), about(facts), NOW)).toEqual(at(9));
    const now = [override({ startsAt: NOW })];
    expect(nextEdge(entitled(feature(), now), about(now), NOW)).toBeNull(); // it has begun
    expect(nextEdge(entitled(metered, []), about([]), NOW)).toEqual(new Date('2026-11-22T00:00:00Z'));
    expect(nextEdge(entitled(feature(), []), about([]), NOW)).toBeNull();
  });

  test.each([
    [Reset.NEVER, '2026-11-21T12:00:00Z', '1970-01-01T00:00:00Z', null],
    [Reset.DAY, '2026-11-21T23:59:59.999Z', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'],
    [Reset.DAY, '2024-02-28T00:00:00Z', '2024-02-28T00:00:00Z', '2024-02-29T00:00:00Z'],
    [Reset.CALENDAR_MONTH, '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    [Reset.CALENDAR_MONTH, '2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  ])('the period of %s around %s', (reset, instant, start, end) => {
    expect(periodOf(reset, new Date(instant), null)).toEqual({ start: new Date(start), end: end && new Date(end) });
  });
});

test('a period is that of UTC wherever the process runs', () => {
  const zone = process.env.TZ;
  process.env.TZ = 'Pacific/Auckland'; // where 23:30Z on the last of November is December
  try {
    expect(periodOf(Reset.CALENDAR_MONTH, new Date('2026-11-30T23:30:00Z'), null).start).toEqual(new Date('2026-11-01T00:00:00Z'));
    expect(periodOf(Reset.DAY, new Date('2026-11-30T23:30:00Z'), null).start).toEqual(new Date('2026-11-30T00:00:00Z'));
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

describe('what does not go together', () => {
  const shape = { key: 'ai.x', kind: Kind.BOOLEAN, unit: null, failMode: EntitlementFailMode.CLOSED, defaultValue: null as unknown };
  const rest = { usageReset: Reset.NEVER, softLimit: false, productIds: [] as string[] };
  const pointers = (errors: readonly { pointer: string }[]): string[] => errors.map(one => one.pointer.replace('/input/', ''));

  test.each([
    ['nothing', {}, []],
    ['a default that is no boolean', { defaultValue: 1 }, ['defaultValue']],
    ['a default limit of nothing', { kind: Kind.METERED, defaultValue: 0 }, []],
    ['a default that is no limit', { kind: Kind.METERED, defaultValue: -1 }, ['defaultValue']],
    ['a default limit that is no whole number', { kind: Kind.METERED, defaultValue: 1.5 }, ['defaultValue']],
    ['a default that is too long', { kind: Kind.CONFIG, defaultValue: 'x'.repeat(5_000) }, ['defaultValue']],
    ['an open feature with a medical effect', { key: 'labs.x', failMode: EntitlementFailMode.OPEN }, ['failMode']],
    ['an open feature without one', { failMode: EntitlementFailMode.OPEN }, []],
    ['what is for metered features', { unit: 'x', usageReset: Reset.DAY, softLimit: true }, ['unit', 'usageReset', 'softLimit']],
    ['products of a metered feature', { kind: Kind.METERED, productIds: ['x'] }, ['productIds']],
  ])('in a feature: %s', (_what, more, expected) => expect(pointers(featureViolations({ ...shape, ...rest, ...more }))).toEqual(expected));

  const wanted = {
    allow: true,
    value: null as unknown,
    limit: null,
    startsAt: NOW,
    endsAt: null,
    source: Source.OVERRIDE,
    reference: null,
  };
  test.each([
    ['nothing', {}, Kind.BOOLEAN, []],
    ['no feature', {}, null, ['featureKey']],
    ['a value for a boolean', { value: 1 }, Kind.BOOLEAN, ['value']],
    ['no value for a config', {}, Kind.CONFIG, ['value']],
    ['a denial with a value', { allow: false, value: 1 }, Kind.CONFIG, ['value']],
    ['a limit for a boolean', { limit: 1 }, Kind.BOOLEAN, ['limit']],
    ['a denial with a limit', { allow: false, limit: 1 }, Kind.METERED, ['limit']],
    ['an end at the start', { startsAt: at(5), endsAt: at(5) }, Kind.BOOLEAN, ['endsAt']],
    ['an end in the past', { startsAt: at(-5), endsAt: at(-1) }, Kind.BOOLEAN, ['endsAt']],
    ['an end now', { startsAt: at(-5), endsAt: NOW }, Kind.BOOLEAN, ['endsAt']],
    ['a tier as the source', { source: Source.TIER }, Kind.BOOLEAN, ['source']],
    ['a purchase without an order that denies', { source: Source.PURCHASE, allow: false }, Kind.BOOLEAN, ['reference', 'allow']],
  ])('in an override: %s', (_what, more, kind, expected) =>
    expect(pointers(overrideViolations({ ...wanted, ...more }, kind, NOW))).toEqual(expected),
  );
});
