import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';

const ASK = stored('query AffiliatesBrands { brands(first: 100) { nodes { id domains { host status } } } }');

interface Answer {
  brands: { nodes: { id: string; domains: { host: string; status: string }[] }[] };
}

/** Verified hosts of each brand, asked of platform. @throws Problem when it cannot be asked. */
export async function hostsByBrand(ctx: Context): Promise<ReadonlyMap<string, readonly string[]>> {
  const { brands } = await ctx.federation.run<Answer>(ASK);
  return new Map(brands.nodes.map(({ id, domains }) => [id, domains.filter(one => one.status === 'VERIFIED').map(({ host }) => host)]));
}
