import type { Context } from '../../../runtime/request/context.js';
import { requireValid } from '../../../runtime/request/errors.js';
import type { FlagCondition, FlagSnapshot, FlagTarget } from '../../../runtime/flags/evaluation.js';
import type { EvaluateFlagsInput, FlagAttributesInput } from '../inputs/evaluation.js';
import { tierOf } from '../ports/tier.js';
import { attributeViolations } from '../rules/attributes.js';

type Attributes = Record<string, string | readonly string[]>;

/** Attributes under the evaluator's names, without absent ones. */
function attributesOf({ country, locale, role, tier, client, appVersion }: FlagAttributesInput): Attributes {
  const all = { COUNTRY: country, LOCALE: locale, ROLE: role, TIER: tier, CLIENT: client, APP_VERSION: appVersion };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) as Attributes;
}

/** Whether the value of one of the flags may depend on an attribute, by a rule of its own or of a prerequisite. */
function dependOn({ flags }: FlagSnapshot, keys: readonly string[], attribute: FlagCondition['attribute']): boolean {
  const reached = new Set(keys); // grows while it is walked; a cycle of prerequisites ends it
  for (const key of reached) {
    const flag = flags.get(key);
    if (flag?.rules.some(({ conditions }) => conditions.some(one => one.attribute === attribute))) return true;
    for (const prerequisite of flag?.prerequisites ?? []) reached.add(prerequisite.key);
  }
  return false;
}

/** What a user's token says about its user, and what entitlements says of the tier, where one of the flags may depend on it. */
export async function ownAttributes(ctx: Context, flags: FlagSnapshot, keys: readonly string[]): Promise<FlagAttributesInput> {
  const { userId, roles, clientId } = ctx.caller;
  const tier = userId && dependOn(flags, keys, 'TIER') ? await tierOf(ctx, userId) : null;
  return { role: [...roles], client: clientId, tier };
}

/** @throws Problem invalid_request when a user token sets what only a service may. */
export async function targetOf(ctx: Context, input: EvaluateFlagsInput, flags: FlagSnapshot): Promise<FlagTarget> {
  const { brandId, userId, attributes, keys } = input;
  if (ctx.caller.kind === 'service') return target(brandId, userId, attributes ?? {});
  const errors = attributeViolations({ ...attributes });
  requireValid(errors);
  return target(brandId ?? ctx.caller.brandId, ctx.caller.userId, { ...attributes, ...(await ownAttributes(ctx, flags, keys)) });
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
