import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FlagStaleness } from '../../subgraphs/platform/entities/explanation.js';
import { BrandDomainStatus, BrandStatus } from '../../subgraphs/platform/entities/brand.js';
import {
  FeatureFlagKind,
  FlagChangeStatus,
  FlagConditionAttribute,
  FlagConditionOperator,
} from '../../subgraphs/platform/entities/flag.js';
import { moveBrand, moveDomain } from '../../subgraphs/platform/rules/brand.js';
import { effective } from '../../subgraphs/platform/rules/config.js';
import { brandsConcerned, checkApprover, checkStage, isApproved, moveChange } from '../../subgraphs/platform/rules/flag-change.js';
import type { FlagState, RuleState } from '../../subgraphs/platform/rules/flag-state.js';
import { readOfrepContext } from '../../subgraphs/platform/rules/ofrep.js';
import { judgeViews, type Catalogue } from '../../subgraphs/platform/rules/safe-views.js';
import { looksSecret } from '../../subgraphs/platform/rules/secrets.js';
import { isLowering, riseOf, variantAt } from '../../subgraphs/platform/rules/stage.js';
import { stalenessOf } from '../../subgraphs/platform/rules/staleness.js';
import { user } from './flag-fixtures.js';

const brand = (number: number): string => `0190b3a0-0000-7000-8000-00000000000${number}`;
const STAGES = ['S0', 'S1', 'S2', 'S3', 'S4', 'S5'];
const NOTHING: FlagState = {
  description: '',
  kind: FeatureFlagKind.OPS,
  variants: STAGES.map(name => ({ name, value: name })),
  offVariant: 'S0',
  defaultRule: { variant: 'S0' },
  rules: [],
  prerequisites: [],
  enabled: true,
  killed: false,
  archived: false,
  failClosed: true,
  protected: true,
  permanent: true,
  expiresOn: null,
  owner: 'intelligence',
  readers: [],
};
const state = (patch: Partial<FlagState>): FlagState => ({ ...NOTHING, ...patch });
const at = (variant: string): FlagState => state({ defaultRule: { variant } });
const share = (variant: string, basisPoints: number) => ({ rollout: [{ variant, basisPoints }] });

const { PENDING, SCHEDULED, APPROVED, APPLIED, REJECTED, EXPIRED } = FlagChangeStatus;

describe('a change of a flag', () => {
  const allowed: Record<string, FlagChangeStatus> = {
    [`${PENDING} approve`]: APPLIED,
    [`${PENDING} schedule`]: SCHEDULED,
    [`${PENDING} reject`]: REJECTED,
    [`${PENDING} expire`]: EXPIRED,
    [`${SCHEDULED} apply`]: APPLIED,
    [`${SCHEDULED} expire`]: EXPIRED,
  };
  const triggers = ['approve', 'schedule', 'reject', 'apply', 'expire'] as const;
  const all = [PENDING, SCHEDULED, APPROVED, APPLIED, REJECTED, EXPIRED].flatMap(from => triggers.map(trigger => [from, trigger] as const));
  test.each(all)('that is %s and told to %s moves as its table says', (from, trigger) => {
    const next = allowed[`${from} ${trigger}`];
    if (next) expect(moveChange(from, trigger)).toBe(next);
    else expect(() => moveChange(from, trigger)).toThrow(`a flag change that is ${from} cannot ${trigger}`);
  });

  test.each([
    ['staff:1', [], false],
    ['staff:1', ['staff:2'], true],
    ['staff:1', ['staff:1'], false],
    ['service:x', ['staff:1'], false],
    ['service:x', ['staff:1', 'staff:2'], true],
  ])('asked for by %s and approved by %j: enough? %s', (requestedBy, by, enough) => {
    expect(
      isApproved(
        requestedBy,
        by.map(one => ({ by: one })),
      ),
    ).toBe(enough);
  });

  test('is not approved by who asked, nor twice by one', () => {
    expect(() => checkApprover('staff:1', 'staff:1', [])).toThrow(/somebody else/);
    expect(() => checkApprover('staff:2', 'service:x', [{ by: 'staff:2' }])).toThrow(/given already/);
    expect(() => checkApprover('staff:2', 'staff:1', [])).not.toThrow();
  });

  const of = (id: string, basisPoints: number): RuleState => ({
    conditions: [{ attribute: FlagConditionAttribute.BRAND, operator: FlagConditionOperator.IN, values: [id] }],
    ...share('S1', basisPoints),
  });
  test.each([
    ['a rule of one brand', [], [of(brand(1), 1)], [brand(1)]],
    ['another share of it', [of(brand(1), 1)], [of(brand(1), 2)], [brand(1)]],
    ['a rule of another brand behind it', [of(brand(1), 1)], [of(brand(1), 1), of(brand(2), 1)], [brand(2)]],
    ['a rule without brand', [], [{ conditions: [], variant: 'S1' }], null],
  ])('concerns, where it is %s, the brands that it names', (_what, before, after, brands) => {
    expect(brandsConcerned(state({ rules: before }), { rules: after })).toEqual(brands);
    expect(brandsConcerned(state({ rules: before }), { rules: after, enabled: true })).toBeNull();
  });
});

describe('a stage', () => {
  test.each([
    ['S0', 'S1', { to: 'S1', steps: 1 }],
    ['S0', 'S2', { to: 'S2', steps: 2 }],
    ['S2', 'S3', { to: 'S3', steps: 1 }],
    ['S3', 'S0', null],
    ['S3', 'S3', null],
  ])('from %s to %s is a rise of %j', (from, to, rise) => {
    expect(riseOf(at(from), at(to))).toEqual(rise);
  });

  const some = (serve: object): FlagState => state({ rules: [{ conditions: [], ...serve }] });
  test.each([
    ['more users on the same stage', some(share('S1', 100)), some(share('S1', 200)), { to: 'S1', steps: 1 }],
    ['fewer users', some(share('S1', 200)), some(share('S1', 100)), null],
    [
      'a new rule over all',
      at('S1'),
      state({ defaultRule: { variant: 'S1' }, rules: [{ conditions: [], variant: 'S3' }] }),
      { to: 'S3', steps: 2 },
    ],
    ['switched on', state({ enabled: false, defaultRule: { variant: 'S2' } }), at('S2'), { to: 'S2', steps: 2 }],
    ['unkilled', state({ killed: true, defaultRule: { variant: 'S1' } }), at('S1'), { to: 'S1', steps: 1 }],
    ['changed while killed', state({ killed: true }), state({ killed: true, defaultRule: { variant: 'S5' } }), null],
    [
      'a prerequisite taken away',
      state({ defaultRule: { variant: 'S2' }, prerequisites: [{ key: 'feature.x', variant: 'on' }] }),
      at('S2'),
      { to: 'S2', steps: 2 },
    ],
    [
      'a variant instead of the whole rollout, for those without a user',
      some(share('S1', 10_000)),
      some({ variant: 'S1' }),
      { to: 'S1', steps: 1 },
    ],
  ])('%s', (_what, before, after, rise) => {
    expect(riseOf(before, after)).toEqual(rise);
  });

  test('lowered in any of its ways is no rise, and what is not targeting is no lowering', () => {
    expect(isLowering(at('S3'), at('S1'), ['defaultRule'])).toBe(true);
    expect(isLowering(at('S1'), at('S3'), ['defaultRule'])).toBe(false);
    expect(isLowering(at('S3'), { ...at('S1'), readers: ['ai'] }, ['defaultRule', 'readers'])).toBe(false);
    expect(isLowering(at('S3'), at('S3'), [])).toBe(false);
  });

  const serve = fc.oneof(
    fc.record({ variant: fc.constantFrom(...STAGES) }),
    fc.record({
      rollout: fc.array(fc.record({ variant: fc.constantFrom(...STAGES), basisPoints: fc.integer({ min: 0, max: 3000 }) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  );
  test('no bucket rises by more than the rise says, whatever the rollouts', () => {
    fc.assert(
      fc.property(serve, serve, (old, fresh) => {
        const rise = riseOf(state({ defaultRule: old }), state({ defaultRule: fresh }));
        const lifts = [null, ...Array.from({ length: 100 }, (_, index) => index * 100)].map(
          bucket => STAGES.indexOf(variantAt(fresh, bucket, 'S0')) - STAGES.indexOf(variantAt(old, bucket, 'S0')),
        );
        expect(Math.max(0, ...lifts)).toBeLessThanOrEqual(rise?.steps ?? 0);
      }),
    );
  });
});

describe('a brand and a host', () => {
  const { ACTIVE, SUSPENDED, ARCHIVED } = BrandStatus;
  test.each([
    [ACTIVE, 'suspend', SUSPENDED],
    [SUSPENDED, 'activate', ACTIVE],
    [SUSPENDED, 'archive', ARCHIVED],
    [ACTIVE, 'activate', null],
    [ACTIVE, 'archive', null],
    [SUSPENDED, 'suspend', null],
    [ARCHIVED, 'activate', null],
    [ARCHIVED, 'suspend', null],
    [ARCHIVED, 'archive', null],
  ] as const)('%s, %s: %s', (from, trigger, next) => {
    if (next) expect(moveBrand(from, trigger)).toBe(next);
    else expect(() => moveBrand(from, trigger)).toThrow(`a brand that is ${from} cannot ${trigger}`);
  });

  const { PENDING: WAITING, VERIFIED, FAILED } = BrandDomainStatus;
  test.each([
    [WAITING, true, VERIFIED],
    [WAITING, false, FAILED],
    [FAILED, true, VERIFIED],
    [FAILED, false, FAILED],
  ])('a %s host whose record was found: %s, is %s', (from, found, next) => {
    expect(moveDomain(from, found)).toBe(next);
    expect(() => moveDomain(VERIFIED, found)).toThrow(/verified/);
  });
});

describe('a text', () => {
  test.each([
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'Bearer q9Xz3LmP7vTn2RkW8sYd5HbGc4JfA6Ue',
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'xoxb-17653672481-19874698323',
  ])('%s looks like a secret', text => expect(looksSecret(text)).toBe(true));

  test.each([
    'a plain sentence that is long enough to be looked at by the rule',
    '0190b3a0-0000-7000-8000-000000000001',
    'https://cdn.example/assets/brand/logo.svg',
    'feature.clinical.retest-prompt',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '21:00',
  ])('%s does not', text => expect(looksSecret(text)).toBe(false));
});

describe('a flag is stale', () => {
  const TODAY = '2026-11-21';
  const loose = (patch: Partial<FlagState>) => state({ permanent: false, ...patch });
  test.each([
    ['past its end', loose({ expiresOn: '2026-11-20', defaultRule: share('S1', 1) }), 0, null, [FlagStaleness.EXPIRED]],
    ['not on its last day', loose({ expiresOn: TODAY, defaultRule: share('S1', 1) }), 99, null, []],
    ['with one result for 30 days', loose({}), 30, null, [FlagStaleness.ONE_RESULT]],
    ['not before', loose({}), 29.9, null, []],
    ['switched off for 30 days', loose({ enabled: false, defaultRule: share('S1', 1) }), 30, null, [FlagStaleness.ONE_RESULT]],
    ['when one variant only was used', loose({ defaultRule: share('S1', 1) }), 30, 1, [FlagStaleness.ONE_RESULT]],
    ['not when two were', loose({ defaultRule: share('S1', 1) }), 30, 2, []],
    ['not when it is permanent', loose({ permanent: true, expiresOn: '2026-11-20' }), 99, null, []],
  ] as const)('%s', (_what, flag, days, used, reasons) => {
    expect(stalenessOf(flag, { days, used, today: TODAY })).toEqual(reasons);
  });
});

describe('a context of the remote evaluation protocol', () => {
  test('is read into target and attributes', () => {
    const context = { targetingKey: user(1), brandId: brand(1), country: 'DE', role: ['owner'], device: 'x', tier: null };
    expect(readOfrepContext({ context }, null)).toEqual({
      userId: user(1),
      brandId: brand(1),
      attributes: { country: 'DE', role: ['owner'] },
    });
    for (const nothing of [undefined, null, {}, { context: {} }])
      expect(readOfrepContext(nothing, null)).toEqual({ userId: null, brandId: null, attributes: {} });
  });
});

describe('safe views', () => {
  const column = (name: string, mark: string | null = null) => ({ schema: 's', table: 't', column: name, mark });
  const view = { schema: 's', view: 't_safe', columns: ['id'], barrier: true, ownerLogsIn: false };
  const catalogue = (patch: Partial<Catalogue>): Catalogue => ({
    columns: [column('id'), column('email', 'class: personal')],
    views: [view],
    grants: [],
    ...patch,
  });
  test.each([
    ['nothing wrong', {}, []],
    ['a marked column', { views: [{ ...view, columns: ['id', 'email'] }] }, ['shows email, which is marked personal']],
    ['a right beyond reading', { grants: [{ schema: 's', relation: 't_safe', privilege: 'DELETE' }] }, ['grants DELETE']],
    ['no barrier', { views: [{ ...view, barrier: false }] }, ['is no security barrier']],
    ['an owner who logs in', { views: [{ ...view, ownerLogsIn: true }] }, ['is owned by a role that can log in']],
  ] as const)('%s', (_what, patch, drift) => {
    expect(judgeViews(catalogue(patch as Partial<Catalogue>)).flatMap(one => one.drift)).toEqual(drift);
  });

  test('are missed for a table with marked columns, in a schema that has some', () => {
    const other = { schema: 's', table: 'u', column: 'note', mark: 'class: free_text' };
    expect(judgeViews(catalogue({ columns: [...catalogue({}).columns, other] })).find(one => one.view === 'u_safe')?.drift).toEqual([
      'is missing',
    ]);
  });

  test('say why a column is left out, by its mark or else its name', () => {
    const columns = [
      column('id'),
      column('email', 'class: personal'),
      column('token_hash'),
      column('note'),
      column('value'),
      column('who'),
    ];
    expect(judgeViews(catalogue({ columns }))[0]!.omitted.map(one => one.reason)).toEqual([
      'personal',
      'secret',
      'free_text',
      'health',
      'personal',
    ]);
  });
});

describe('the guard of a stage', () => {
  const rise = { to: 'S2', steps: 1 };
  const refusal = (...args: Parameters<typeof checkStage>): string | null => {
    try {
      checkStage(...args);
      return null;
    } catch (error) {
      return (error as { options: { reason: string } }).options.reason;
    }
  };
  test.each([
    ['a change that lifts nothing', null, null, null],
    ['one step whose gate is met', rise, { to: 'S2', met: true, reasons: [] }, null],
    ['one step whose gate is not met', rise, { to: 'S2', met: false, reasons: ['too_few'] }, 'gate_not_met'],
    ['one step, but the gate of another stage is met', rise, { to: 'S1', met: true, reasons: [] }, 'gate_not_met'],
    ['one step while the gate cannot be asked', rise, null, 'gate_not_met'],
    ['two steps, whatever the gate says', { to: 'S2', steps: 2 }, { to: 'S2', met: true, reasons: [] }, 'step_too_large'],
  ] as const)('%s', (_what, wanted, gate, expected) => expect(refusal(wanted, gate)).toBe(expected));
});

describe('the value of a key that is in force', () => {
  const own = { brandId: brand(1), value: 'own', version: 3 };
  const global = { brandId: null, value: 'global', version: 2 };
  const schema = { default: 'default' };
  test.each([
    ["the brand's", [global, own], brand(1), { value: 'own', version: 3, source: 'brand' }],
    ['the global one for another brand', [global, own], brand(2), { value: 'global', version: 2, source: 'global' }],
    ['the global one without a brand', [own, global], null, { value: 'global', version: 2, source: 'global' }],
    ['the default', [own], brand(2), { value: 'default', version: null, source: 'default' }],
  ] as const)('is %s', (_what, current, brandId, expected) => expect(effective(schema, current, brandId)).toEqual(expected));
});
