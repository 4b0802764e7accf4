import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { ask } from './neighbour.js';

const ASK = stored(`query CommerceBrands { brands(first: 100) { nodes {
  id slug isDefault defaultLocale defaultCurrency currencies countries timeZone taxInclusivePrices domains { host status } } } }`);

/** What commerce must know of a storefront. */
export interface Brand {
  id: string;
  slug: string;
  isDefault: boolean;
  defaultLocale: string;
  defaultCurrency: string;
  currencies: readonly string[];
  countries: readonly string[];
  timeZone: string;
  /** Verified host names. */
  hosts: readonly string[];
}

interface Answer {
  brands: { nodes: (Omit<Brand, 'hosts'> & { domains: { host: string; status: string }[] })[] };
}

/** How long what platform says is believed without its event, ms. */
const KEPT_MS = 60_000;
const known = new WeakMap<object, { at: number; brands: Promise<readonly Brand[]> }>();

async function load(host: Pick<ServiceHost, 'federation'>): Promise<readonly Brand[]> {
  const { brands } = await ask<Answer>(host, ASK, {});
  return brands.nodes.map(({ domains, ...brand }) => ({
    ...brand,
    hosts: domains.filter(({ status }) => status === 'VERIFIED').map(({ host: name }) => name),
  }));
}

/** All brands, asked of platform at most once a minute; outside transactions. @throws Problem unavailable. */
export function brandsOf(host: Pick<ServiceHost, 'federation'>): Promise<readonly Brand[]> {
  const found = known.get(host);
  if (found && performance.now() - found.at < KEPT_MS) return found.brands;
  const brands = load(host);
  known.set(host, { at: performance.now(), brands });
  brands.catch(() => known.delete(host));
  return brands;
}

/** Forgets what platform has changed. */
export const forgetBrands = (host: object): void => void known.delete(host);

/** One brand, by id, else the token's, else the default one. @throws Problem not_found. */
export async function brandOf(
  host: Pick<ServiceHost, 'federation'>,
  wanted: { id?: string | null; slug?: string | null; fallbackId?: string | null },
): Promise<Brand> {
  const brands = await brandsOf(host);
  const { id, slug, fallbackId } = wanted;
  const named = id != null || slug != null;
  const found = brands.find(one => (id != null ? one.id === id.toLowerCase() : slug != null && one.slug === slug));
  if (found) return found;
  if (named) fail('not_found', 'No such brand');
  return brands.find(one => one.id === fallbackId) ?? brands.find(one => one.isDefault) ?? brands[0] ?? fail('not_found', 'No such brand');
}
