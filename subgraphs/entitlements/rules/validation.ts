import type { Violation } from '../../../runtime/request/errors.js';
import { EntitlementFailMode, EntitlementFeatureKind, EntitlementSource, EntitlementUsageReset } from '../entities/enums.js';
import type { EntitlementFeature } from '../entities/feature.js';
import type { EntitlementOverride } from '../entities/override.js';
import type { TierFeature } from '../entities/tier.js';
import { BUILT_IN } from './tier.js';

const { BOOLEAN, CONFIG, METERED } = EntitlementFeatureKind;

/** Longest value as JSON, characters. */
const MAX_VALUE = 4_096;
const TOO_LONG = `must have at most ${MAX_VALUE} characters as JSON`;

/** First parts of keys whose features have a medical or a money effect: they are denied where facts cannot be had. Source: entitlements 7.5. */
const CLOSED_AREAS: ReadonlySet<string> = new Set(
  `accounting affiliates booking cash clinical commerce labs membership partner patient payments
   dose medication prescription protocol protocols treatment`.split(/\s+/),
);

/** What of an input is checked: its field, whether it is wrong, and why. */
type Check = readonly [field: string, isWrong: boolean, message: string];

const violationsOf = (checks: readonly Check[]): Violation[] =>
  checks.filter(([, isWrong]) => isWrong).map(([field, , message]) => ({ pointer: `/input/${field}`, message }));

const isShort = (value: unknown): boolean => JSON.stringify(value).length <= MAX_VALUE;

/** What a feature's default may be beside null. */
const DEFAULTS = {
  [BOOLEAN]: { fits: value => typeof value === 'boolean', message: 'must be true, false or null' },
  [CONFIG]: { fits: isShort, message: TOO_LONG },
  [METERED]: {
    fits: value => Number.isSafeInteger(value) && (value as number) >= 0,
    message: 'must be a limit, a whole number of at least 0, or null',
  },
} as const satisfies Record<EntitlementFeatureKind, { fits(value: unknown): boolean; message: string }>;

type Shape = Pick<EntitlementFeature, 'key' | 'kind' | 'unit' | 'failMode' | 'defaultValue' | 'usageReset' | 'softLimit' | 'productIds'>;

/** What of a feature does not go together. No order has the amount of a metered one, so products unlock boolean ones only. */
export function featureViolations({ key, kind, unit, failMode, defaultValue, usageReset, softLimit, productIds }: Shape): Violation[] {
  const [metered, closed] = [kind === METERED, CLOSED_AREAS.has(key.split('.')[0]!)];
  return violationsOf([
    ['defaultValue', defaultValue !== null && !DEFAULTS[kind].fits(defaultValue), DEFAULTS[kind].message],
    ['failMode', closed && failMode === EntitlementFailMode.OPEN, 'must be closed: the feature has a medical or a money effect'],
    ['unit', !metered && unit !== null, 'is for metered features'],
    ['usageReset', !metered && usageReset !== EntitlementUsageReset.NEVER, 'is for metered features'],
    ['softLimit', !metered && softLimit, 'is for metered features'],
    ['productIds', kind !== BOOLEAN && productIds.length > 0, 'are for boolean features'],
  ]);
}

type WantedOverride = Pick<EntitlementOverride, 'allow' | 'value' | 'limit' | 'startsAt' | 'endsAt' | 'source' | 'reference'>;

function valueChecks({ allow, value, limit }: WantedOverride, kind: EntitlementFeatureKind): Check[] {
  const [allowsConfig, allowsMetered] = [allow && kind === CONFIG, allow && kind === METERED];
  return [
    ['value', kind === CONFIG && value !== null && !isShort(value), TOO_LONG],
    ['value', allowsConfig && value === null, 'is required to allow a config feature'],
    ['value', !allowsConfig && value !== null, 'is for allowing a config feature'],
    ['limit', !allowsMetered && limit !== null, 'is for allowing a metered feature'],
  ];
}

/** What is wrong with an override; `kind` null: there is no such feature. */
export function overrideViolations(wanted: WantedOverride, kind: EntitlementFeatureKind | null, now: Date): Violation[] {
  const { allow, startsAt, endsAt, source, reference } = wanted;
  const purchase = source === EntitlementSource.PURCHASE;
  return violationsOf([
    ...(kind === null ? [['featureKey', true, 'is no feature'] as const] : valueChecks(wanted, kind)),
    ['endsAt', endsAt !== null && endsAt <= startsAt, 'must be after the start'],
    ['endsAt', endsAt !== null && endsAt <= now, 'must be in the future'],
    ['source', !purchase && source !== EntitlementSource.OVERRIDE, 'must be override or purchase'],
    ['reference', purchase && reference === null, 'is required for a purchase'],
    ['allow', purchase && !allow, 'must be true for a purchase'],
  ]);
}

type WantedGrant = Pick<TierFeature, 'value' | 'limit' | 'softLimit' | 'reset'>;

/** What is wrong with what a tier is to give; `kind` null: there is no such feature. */
export function grantViolations(
  { value, limit, softLimit, reset }: WantedGrant,
  key: string,
  kind: EntitlementFeatureKind | null,
): Violation[] {
  const [metered, config] = [kind === METERED, kind === CONFIG];
  return violationsOf([
    ['key', kind === null, 'is no feature'],
    ['key', key === BUILT_IN, 'is built in'],
    ['value', config && value === null, 'is required for a config feature'],
    ['value', value !== null && !isShort(value), TOO_LONG],
    ['value', kind === BOOLEAN && value !== null && typeof value !== 'boolean', 'must be true, false or null'],
    ['value', metered && value !== null, 'is not for a metered feature'],
    ['limit', !metered && limit !== null, 'is for metered features'],
    ['softLimit', !metered && softLimit, 'is for metered features'],
    ['reset', !metered && reset !== EntitlementUsageReset.NEVER, 'is for metered features'],
  ]);
}
