import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bucketOf,
  evaluateFlag,
  type FlagCondition,
  type FlagDefinition,
  type FlagServe,
  type FlagTarget,
} from '../../runtime/flags/evaluation.js';
import { BRAND, CYCLE, flag, PROMPT, snapshot, user } from './flag-fixtures.js';

const rolledOut = (basisPoints: number, changes: Partial<FlagDefinition> = {}): FlagDefinition =>
  flag(PROMPT, {
    defaultRule: { variant: 'off' },
    rules: [{ conditions: [{ attribute: 'BRAND', operator: 'IN', values: [BRAND] }], rollout: [{ variant: 'on', basisPoints }] }],
    prerequisites: [{ key: CYCLE, variant: 'on' }],
    ...changes,
  });

const valueFor = (one: FlagDefinition, target: FlagTarget, ...others: FlagDefinition[]) =>
  evaluateFlag(snapshot(one, flag(CYCLE), ...others), one.key, target).value;

const usersOn = (basisPoints: number): number[] =>
  [1, 2, 3, 4, 5, 6].filter(one => valueFor(rolledOut(basisPoints), { brandId: BRAND, userId: user(one) }) === true);

describe('a rollout', () => {
  test.each([
    [1, 2149],
    [2, 5896],
    [3, 299],
    [4, 8973],
    [5, 8292],
    [6, 9310],
  ])('puts user …a%i of the prompt flag with salt s1 into bucket %i', (one, bucket) => {
    expect(bucketOf(PROMPT, 's1', BRAND, user(one))).toBe(bucket);
  });

  test('of 2500 basis points is on for …a1 and …a3, of 6000 also for …a2, and back at 2500 not for …a2', () => {
    expect([2500, 6000, 2500].map(usersOn)).toEqual([
      [1, 3],
      [1, 2, 3],
      [1, 3],
    ]);
  });

  test('of so many basis points as the number of a bucket ends before it', () => {
    expect([299, 300].map(usersOn)).toEqual([[], [3]]);
  });

  test('answers with reason split', () => {
    expect(evaluateFlag(snapshot(rolledOut(2500), flag(CYCLE)), PROMPT, { brandId: BRAND, userId: user(1) })).toEqual({
      key: PROMPT,
      value: true,
      variant: 'on',
      reason: 'SPLIT',
      errorCode: null,
      revision: 1,
    });
  });

  test('is off for all when its prerequisite is off, at 10000 basis points too', () => {
    const results = [1, 2, 3, 4, 5, 6].map(one =>
      evaluateFlag(snapshot(rolledOut(10_000), flag(CYCLE, { enabled: false })), PROMPT, { brandId: BRAND, userId: user(one) }),
    );
    expect(results.every(({ value, reason }) => value === false && reason === 'DISABLED')).toBe(true);
  });

  test.each<[string, FlagTarget]>([
    ['user', { brandId: BRAND }],
    ['brand', { userId: user(1) }],
  ])('without a %s id is off with targeting_key_missing', (_, target) => {
    const half = rolledOut(0, { rules: [{ conditions: [], rollout: [{ variant: 'on', basisPoints: 5000 }] }] });
    expect(evaluateFlag(snapshot(half, flag(CYCLE)), PROMPT, target)).toMatchObject({
      value: false,
      variant: 'off',
      reason: 'ERROR',
      errorCode: 'TARGETING_KEY_MISSING',
    });
  });

  test('gives variants consecutive ranges in their order, and the rest to the off variant', () => {
    const parts = ['a', 'b', 'off'].map(name => ({ name, value: name }));
    const three = flag(PROMPT, {
      variants: parts,
      defaultRule: {
        rollout: [
          { variant: 'a', basisPoints: 3000 },
          { variant: 'b', basisPoints: 5300 },
        ],
      },
    });
    const served = [1, 2, 3, 4, 5, 6].map(one => valueFor(three, { brandId: BRAND, userId: user(one) }));
    expect(served).toEqual(['a', 'b', 'a', 'off', 'b', 'off']); // buckets 2149 5896 299 8973 8292 9310
  });

  test('only adds users when it is raised, and other flags give other buckets', () => {
    const uuid = fc.uuid();
    const points = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(uuid, uuid, points, points, (brandId, userId, one, two) => {
        const [low, high] = [Math.min(one, two), Math.max(one, two)];
        const serves = (basisPoints: number) =>
          valueFor(rolledOut(basisPoints, { rules: [], defaultRule: { rollout: [{ variant: 'on', basisPoints }] } }), { brandId, userId });
        expect(serves(low) === true && serves(high) === false).toBe(false);
        expect(serves(0)).toBe(false);
        expect(serves(10_000)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(uuid, { minLength: 12, maxLength: 12 }), users => {
        const places = (key: string) => users.map(one => bucketOf(key, key, BRAND, one));
        expect(places('feature.a')).not.toEqual(places('feature.b'));
      }),
    );
  });
});

describe('the order of decisions', () => {
  const whole = { conditions: [], variant: 'on' };

  test.each<[string, Partial<FlagDefinition>, string]>([
    ['a killed flag is off over every rule', { killed: true, rules: [whole] }, 'DISABLED'],
    ['a flag that is not enabled is off', { enabled: false, rules: [whole] }, 'DISABLED'],
    ['an unknown prerequisite is not met', { prerequisites: [{ key: 'feature.nope', variant: 'on' }] }, 'DISABLED'],
    ['an archived prerequisite is not met', { prerequisites: [{ key: 'feature.old', variant: 'on' }] }, 'DISABLED'],
    ['a killed prerequisite is not met', { prerequisites: [{ key: 'feature.killed', variant: 'on' }] }, 'DISABLED'],
    ['a prerequisite decides for the same target', { prerequisites: [{ key: 'feature.split', variant: 'on' }] }, 'DISABLED'],
  ])('%s', (_, changes, reason) => {
    const all = snapshot(
      flag('feature.this', changes),
      flag('feature.old', { archived: true }),
      flag('feature.killed', { killed: true }),
      flag('feature.split', { defaultRule: { rollout: [{ variant: 'on', basisPoints: 0 }] } }),
    );
    expect(evaluateFlag(all, 'feature.this', { brandId: BRAND, userId: user(1) })).toMatchObject({ value: false, reason, errorCode: null });
  });

  test.each(['feature.nope', 'feature.old'])('%s, unknown or archived, has no value and flag_not_found', key => {
    expect(evaluateFlag(snapshot(flag('feature.old', { archived: true })), key, {})).toEqual({
      key,
      value: null,
      variant: null,
      reason: 'ERROR',
      errorCode: 'FLAG_NOT_FOUND',
      revision: null,
    });
  });

  test('the first rule whose conditions all hold decides, else the default rule', () => {
    const rules = [
      {
        conditions: [
          { attribute: 'COUNTRY', operator: 'IN', values: ['DE'] },
          { attribute: 'ROLE', operator: 'IN', values: ['support'] },
        ],
        variant: 'a',
      },
      { conditions: [{ attribute: 'COUNTRY', operator: 'IN', values: ['DE', 'US'] }], variant: 'b' },
      { conditions: [{ attribute: 'ROLE', operator: 'IN', values: ['support'] }], variant: 'c' },
    ] as const;
    const lettered = flag('feature.this', {
      variants: ['a', 'b', 'c', 'off'].map(name => ({ name, value: name })),
      defaultRule: { variant: 'off' },
      rules,
    });
    const serves = (attributes: FlagTarget['attributes']) => {
      const { value, reason } = evaluateFlag(snapshot(lettered), 'feature.this', { attributes: attributes! });
      return [value, reason];
    };
    expect(serves({ COUNTRY: 'DE', ROLE: ['owner', 'support'] })).toEqual(['a', 'TARGETING_MATCH']);
    expect(serves({ COUNTRY: 'US', ROLE: ['support'] })).toEqual(['b', 'TARGETING_MATCH']);
    expect(serves({ ROLE: ['support'] })).toEqual(['c', 'TARGETING_MATCH']);
    expect(serves({})).toEqual(['off', 'DEFAULT']);
  });
});

describe('a condition', () => {
  const answer = (condition: FlagCondition, target: FlagTarget): boolean => {
    const one = flag('feature.this', { defaultRule: { variant: 'off' }, rules: [{ conditions: [condition], variant: 'on' }] });
    return evaluateFlag(snapshot(one), 'feature.this', target).value === true;
  };
  const version = (operator: 'GTE' | 'LTE', bound: string, actual: string): boolean =>
    answer({ attribute: 'APP_VERSION', operator, values: [bound] }, { attributes: { APP_VERSION: actual } });

  test.each(['BRAND', 'USER', 'COUNTRY', 'LOCALE', 'ROLE', 'TIER', 'CLIENT'] as const)(
    'on an absent %s is false, NOT_IN included',
    attribute => {
      expect(answer({ attribute, operator: 'IN', values: ['x'] }, {})).toBe(false);
      expect(answer({ attribute, operator: 'NOT_IN', values: ['x'] }, {})).toBe(false);
      expect(answer({ attribute, operator: 'NOT_IN', values: ['x'] }, { attributes: { [attribute]: [] } })).toBe(false);
    },
  );

  test('NOT_IN of several values is true only when none of them is listed', () => {
    const condition: FlagCondition = { attribute: 'ROLE', operator: 'NOT_IN', values: ['owner'] };
    expect(answer(condition, { attributes: { ROLE: ['support', 'analyst'] } })).toBe(true);
    expect(answer(condition, { attributes: { ROLE: ['support', 'owner'] } })).toBe(false);
  });

  test.each([
    ['GTE', '1.9.2', '1.10.0', true],
    ['GTE', '1.10', '1.10.0', true],
    ['LTE', '2.0.0', '2.0.0-rc.1', true],
    ['GTE', '2.0.0', '2.0.0-rc.1', false],
    ['LTE', '2.0.0', 'unknown', false],
    ['GTE', '2.0.0', '', false],
  ] as const)('%s %s on version %s is %s', (operator, bound, actual, expected) => {
    expect(version(operator, bound, actual)).toBe(expected);
  });

  test('on an absent version is false', () => {
    expect(answer({ attribute: 'APP_VERSION', operator: 'LTE', values: ['9.9.9'] }, {})).toBe(false);
  });
});

describe('a corrupt flag serves its off variant with error general', () => {
  const rule = (serve: FlagServe, condition?: object) => ({
    rules: [{ conditions: condition ? [condition as FlagCondition] : [], ...serve }],
  });

  test.each<[string, Partial<FlagDefinition>]>([
    ['a variant that does not exist', rule({ variant: 'nope' })],
    ['a default that does not exist', { defaultRule: { variant: 'nope' } }],
    ['neither variant nor rollout', rule({})],
    ['variant and rollout', rule({ variant: 'on', rollout: [] })],
    ['a rollout over 10,000', rule({ rollout: [{ variant: 'on', basisPoints: 10_001 }] })],
    ['negative basis points', rule({ rollout: [{ variant: 'on', basisPoints: -1 }] })],
    ['an unknown attribute', rule({ variant: 'on' }, { attribute: 'MOON', operator: 'NOT_IN', values: [] })],
    ['an unknown operator', rule({ variant: 'on' }, { attribute: 'COUNTRY', operator: 'LIKE', values: ['DE'] })],
    ['an order of countries', rule({ variant: 'on' }, { attribute: 'COUNTRY', operator: 'GTE', values: ['DE'] })],
    ['rules that are no list', { rules: null as never }],
    ['itself as a prerequisite', { prerequisites: [{ key: 'feature.this', variant: 'on' }] }],
    ['a cycle of prerequisites', { prerequisites: [{ key: 'feature.back', variant: 'on' }] }],
  ])('%s', (_, changes) => {
    const back = flag('feature.back', { prerequisites: [{ key: 'feature.this', variant: 'on' }] });
    expect(evaluateFlag(snapshot(flag('feature.this', changes), back), 'feature.this', {})).toMatchObject({
      value: false,
      variant: 'off',
      reason: 'ERROR',
      errorCode: 'GENERAL',
    });
  });

  test('and whatever its rows hold, evaluating never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (rules, defaultRule, prerequisites) => {
        const broken = flag('feature.this', { rules, defaultRule, prerequisites } as never);
        expect(evaluateFlag(snapshot(broken), 'feature.this', { brandId: BRAND, userId: user(1) }).key).toBe('feature.this');
      }),
    );
  });
});
