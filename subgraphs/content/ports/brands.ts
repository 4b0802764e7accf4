import { reachesAll } from '../../../runtime/access/access.js';
import { stored } from '../../../runtime/federation/federation.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { SECOND_MS } from '../../../runtime/time/durations.js';

/** What is needed of a storefront. */
export interface BrandFacts {
  id: string;
  slug: string;
  isDefault: boolean;
  defaultLocale: string;
  locales: readonly string[];
  /** Verified hosts, the shop's first. */
  hosts: readonly string[];
}

interface Answer {
  brands: { nodes: (Omit<BrandFacts, 'hosts'> & { domains: { host: string; purpose: string; status: string }[] })[] };
}

const BRANDS = stored(
  'query ContentBrands { brands(first: 100) { nodes { id slug isDefault defaultLocale locales domains { host purpose status } } } }',
);
/** An event drops them earlier; this bounds what a lost one costs. */
const KEPT_MS = 60 * SECOND_MS;

interface Kept {
  until: number;
  brands: Promise<readonly BrandFacts[]>;
}
const kept = new WeakMap<ServiceHost, Kept>();

const hostsOf = (domains: Answer['brands']['nodes'][number]['domains']): string[] =>
  domains
    .filter(({ status }) => status === 'VERIFIED')
    .sort((a, b) => Number(b.purpose === 'SHOP') - Number(a.purpose === 'SHOP'))
    .map(({ host }) => host);

async function ask(ctx: Context): Promise<readonly BrandFacts[]> {
  const { brands } = await ctx.federation.run<Answer>(BRANDS);
  return brands.nodes.map(({ domains, ...brand }) => ({ ...brand, hosts: hostsOf(domains) }));
}

/** All brands, asked of platform at most once a minute. @throws Problem unavailable. */
export function brandsOf(ctx: Context): Promise<readonly BrandFacts[]> {
  const known = kept.get(ctx.host);
  if (known && known.until > performance.now()) return known.brands;
  const brands = ask(ctx);
  kept.set(ctx.host, { until: performance.now() + KEPT_MS, brands });
  brands.catch(() => kept.delete(ctx.host));
  return brands;
}

/** Platform said that a brand changed. */
export const forgetBrands = (host: ServiceHost): void => void kept.delete(host);

/** Brands, found out before a transaction. */
export const preparedBrands = preparation((ctx: Context) => brandsOf(ctx));

/** Whether a caller reads every brand's content: services, and content's staff. Source: content 4. */
export const readsAllBrands = ({ caller }: Pick<Context, 'caller'>): boolean => reachesAll({ staff: 'admin:content:read' }, caller);

/** The brand of a request: the named one, the token's, or the default. @throws Problem not_found for a brand that is not the token's. */
export function brandFor(ctx: Context, brands: readonly BrandFacts[], slug: string | null | undefined): BrandFacts {
  const own = ctx.caller.kind === 'user' ? ctx.caller.brandId : null;
  const fallback = brands.find(one => (own === null ? one.isDefault : one.id === own));
  const found = slug == null ? fallback : brands.find(one => one.slug === slug);
  if (!found) fail('not_found', 'Not found');
  const isForeign = !readsAllBrands(ctx) && found !== fallback;
  return isForeign ? fail('not_found', 'Not found') : found;
}

/** Whether the federation does not know what was asked: the service is not there. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'internal' || error.code === 'unavailable' || error.code === 'invalid_request');
