import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';

const ASK = stored('query DefaultBrand($id: ID!) { user(id: $id) { brandId } brands(first: 100) { nodes { id isDefault } } }');

interface Answer {
  user: { brandId: string | null } | null;
  brands: { nodes: { id: string; isDefault: boolean }[] };
}

/** Brand where a call names none: the user's, else the token's, else the platform's default. @throws when it cannot be asked. Source: clinical 2, RetestCycle. */
export async function defaultBrand(ctx: Context, userId: string): Promise<string | null> {
  const { user, brands } = await ctx.federation.run<Answer>(ASK, { id: userId });
  return user?.brandId ?? ctx.caller.brandId ?? brands.nodes.find(brand => brand.isDefault)?.id ?? null;
}
