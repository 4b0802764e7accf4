import type { Context } from '../../../runtime/request/context.js';
import { requireValid } from '../../../runtime/request/errors.js';
import { evaluateFlag, type FlagCondition, type FlagSnapshot, type FlagTarget } from '../../../runtime/flags/evaluation.js';
import type { FlagEvaluation } from '../entities/evaluation.js';
import type { EvaluateFlagsInput, FlagAttributesInput } from '../inputs/evaluation.js';
import { tierOf } from '../ports/tier.js';
import { attributeViolations } from '../rules/attributes.js';
import { currentFlags } from './snapshot.js';

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

/** Attributes of a user token, with the tier by entitlements where one of the flags may depend on it. */
export async function ownAttributes(ctx: Context, flags: FlagSnapshot, keys: readonly string[]): Promise<FlagAttributesInput> {
  const { userId, roles, clientId } = ctx.caller;
  const tier = userId && dependOn(flags, keys, 'TIER') ? await tierOf(ctx, userId) : null;
  return { role: [...roles], client: clientId, tier };
}

/** Ids are stored in lower case, and a bucket is made of the very text. */
export const targetFor = (
  brandId: string | null | undefined,
  userId: string | null | undefined,
  attributes: FlagAttributesInput,
): FlagTarget => ({
  brandId: brandId?.toLowerCase() ?? null,
  userId: userId?.toLowerCase() ?? null,
  attributes: attributesOf(attributes),
});

/** @throws Problem invalid_request when a user token sets what only a service may. */
async function targetOf(ctx: Context, input: EvaluateFlagsInput, flags: FlagSnapshot): Promise<FlagTarget> {
  const { brandId, userId, attributes, keys } = input;
  if (ctx.caller.kind === 'service') return targetFor(brandId, userId, attributes ?? {});
  requireValid(attributeViolations({ ...attributes }));
  return targetFor(brandId ?? ctx.caller.brandId, ctx.caller.userId, { ...attributes, ...(await ownAttributes(ctx, flags, keys)) });
}

/** Values of flags, in the order of the keys. */
export async function evaluateFlags(ctx: Context, input: EvaluateFlagsInput): Promise<FlagEvaluation[]> {
  const flags = await currentFlags(ctx);
  const target = await targetOf(ctx, input, flags);
  return input.keys.map(key => evaluateFlag(flags, key, target));
}

/** Values of flags for a user; what only the token knows counts where the user asks for itself. */
export async function flagsOfUser(
  ctx: Context,
  userId: string,
  keys: readonly string[],
  brandId: string | null,
): Promise<FlagEvaluation[]> {
  const own = ctx.caller.kind === 'user' && userId === ctx.caller.userId;
  const flags = await currentFlags(ctx);
  const target = targetFor(brandId ?? ctx.caller.brandId, userId, own ? await ownAttributes(ctx, flags, keys) : {});
  return keys.map(key => evaluateFlag(flags, key, target));
}
