import { EntitlementFailMode, EntitlementFeatureKind, EntitlementSource, EntitlementUsageReset } from '../entities/enums.js';
import type { EntitlementFeature } from '../entities/feature.js';
import type { Violation } from '../../../runtime/request/errors.js';

/** Longest value as JSON, characters. */
const MAX_VALUE = 4_096;

/** First words of keys whose features have a medical or a money effect: they are denied where facts cannot be had. Source: entitlements 7.5. */
const CLOSED_AREAS = [
  'accounting',
  'affiliates',
  'booking',
  'cash',
  'clinical',
  'commerce',
  'labs',
  'membership',
  'partner',
  'patient',
  'payments',
  'dose',
  'medication',
  'prescription',
  'protocol',
  'protocols',
  'treatment',
];

const wrong = (field: string, message: string): Violation => ({ pointer: `/input/${field}`, message });

const isLimit = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function defaultViolation(kind: EntitlementFeatureKind, value: unknown): string | null {
  if (value === null) return null;
  if (kind === EntitlementFeatureKind.BOOLEAN) return typeof value === 'boolean' ? null : 'must be true, false or null';
  if (kind === EntitlementFeatureKind.METERED) return isLimit(value) ? null : 'must be a limit, a whole number of at least 0, or null';
  return tooLong(value);
}

const tooLong = (value: unknown): string | null =>
  JSON.stringify(value).length > MAX_VALUE ? `must have at most ${MAX_VALUE} characters as JSON` : null;

type Shape = Pick<EntitlementFeature, 'key' | 'kind' | 'unit' | 'failMode' | 'defaultValue' | 'usageReset' | 'softLimit' | 'productIds'>;

/** What of a feature does not go together. */
export function featureViolations({ key, kind, unit, failMode, defaultValue, usageReset, softLimit, productIds }: Shape): Violation[] {
  const ofMetered = kind === EntitlementFeatureKind.METERED;
  const about = defaultViolation(kind, defaultValue);
  const open = failMode === EntitlementFailMode.OPEN && CLOSED_AREAS.includes(key.split('.')[0]!);
  return [
    ...(about ? [wrong('defaultValue', about)] : []),
    ...(open ? [wrong('failMode', 'must be closed: the feature has a medical or a money effect')] : []),
    ...(unit !== null && !ofMetered ? [wrong('unit', 'is for metered features')] : []),
    ...(usageReset !== EntitlementUsageReset.NEVER && !ofMetered ? [wrong('usageReset', 'is for metered features')] : []),
    ...(softLimit && !ofMetered ? [wrong('softLimit', 'is for metered features')] : []),
    ...(productIds.length && kind !== EntitlementFeatureKind.BOOLEAN ? [wrong('productIds', 'are for boolean features')] : []), // no order says how much
  ];
}

export interface WantedOverride {
  allow: boolean;
  value: unknown;
  limit: number | null;
  startsAt: Date;
  endsAt: Date | null;
  source: EntitlementSource;
  reference: string | null;
}

function valueViolations({ allow, value, limit }: WantedOverride, kind: EntitlementFeatureKind): Violation[] {
  const config = kind === EntitlementFeatureKind.CONFIG;
  const about = config && value !== null ? tooLong(value) : null;
  return [
    ...(about ? [wrong('value', about)] : []),
    ...(config && allow && value === null ? [wrong('value', 'is required to allow a config feature')] : []),
    ...(value !== null && !(config && allow) ? [wrong('value', 'is for allowing a config feature')] : []),
    ...(limit !== null && !(allow && kind === EntitlementFeatureKind.METERED) ? [wrong('limit', 'is for allowing a metered feature')] : []),
  ];
}

/** What is wrong with an override; `kind` null: there is no such feature. */
export function overrideViolations(wanted: WantedOverride, kind: EntitlementFeatureKind | null, now: Date): Violation[] {
  const { allow, startsAt, endsAt, source, reference } = wanted;
  const purchase = source === EntitlementSource.PURCHASE;
  return [
    ...(kind === null ? [wrong('featureKey', 'is no feature')] : valueViolations(wanted, kind)),
    ...(endsAt !== null && endsAt <= startsAt ? [wrong('endsAt', 'must be after the start')] : []),
    ...(endsAt !== null && endsAt <= now ? [wrong('endsAt', 'must be in the future')] : []),
    ...(!purchase && source !== EntitlementSource.OVERRIDE ? [wrong('source', 'must be override or purchase')] : []),
    ...(purchase && reference === null ? [wrong('reference', 'is required for a purchase')] : []),
    ...(purchase && !allow ? [wrong('allow', 'must be true for a purchase')] : []),
  ];
}
