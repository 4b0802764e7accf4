import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';

const ASK = stored('query DefaultBrandOfPromos { brands(first: 100) { nodes { id isDefault } } }');

interface Answer {
  brands: { nodes: { id: string; isDefault: boolean }[] };
}

/** The brand of a new promo: the named one, else the token's, else the platform's default; null where there is none. */
export const promoBrand = preparation(async (ctx: Context, { input }: { input: { brandId?: string | null } }): Promise<string | null> => {
  const known = input.brandId?.toLowerCase() ?? ctx.caller.brandId;
  if (known) return known;
  const { brands } = await ctx.federation.run<Answer>(ASK);
  return brands.nodes.find(({ isDefault }) => isDefault)?.id ?? null;
});
