import type { Context } from '../../../runtime/context.js';
import { fail } from '../../../runtime/errors.js';
import type { FlagTarget } from '../../../runtime/flags.js';
import type { EvaluateFlagsInput, FlagAttributesInput } from '../inputs/evaluation.js';
import { attributeViolations } from '../rules/attributes.js';

type Attributes = Record<string, string | readonly string[]>;

/** Attributes under the evaluator's names, without absent ones. */
function attributesOf({ country, locale, role, tier, client, appVersion }: FlagAttributesInput): Attributes {
  const all = { COUNTRY: country, LOCALE: locale, ROLE: role, TIER: tier, CLIENT: client, APP_VERSION: appVersion };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) as Attributes;
}

/** What a user's token says about its user. The tier is entitlements' to say; until it is asked, conditions on it are false. */
export const tokenAttributes = ({ caller }: Context): FlagAttributesInput => ({ role: [...caller.roles], client: caller.clientId });

/** @throws Problem invalid_request when a user token sets what only a service may. */
export function targetOf(ctx: Context, input: EvaluateFlagsInput): FlagTarget {
  const { brandId, userId, attributes } = input;
  if (ctx.caller.kind === 'service') return target(brandId, userId, attributes ?? {});
  const errors = attributeViolations({ ...attributes });
  if (errors.length) fail('invalid_request', 'The input is invalid', { errors });
  return target(brandId ?? ctx.caller.brandId, ctx.caller.userId, { ...attributes, ...tokenAttributes(ctx) });
}

/** Ids are stored in lower case, and a bucket is made of the very text. */
export const target = (
  brandId: string | null | undefined,
  userId: string | null | undefined,
  attributes: FlagAttributesInput,
): FlagTarget => ({
  brandId: brandId?.toLowerCase() ?? null,
  userId: userId?.toLowerCase() ?? null,
  attributes: attributesOf(attributes),
});
