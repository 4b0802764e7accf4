import { stored } from '../../../runtime/federation/federation.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { QuietWindow } from '../rules/quiet-hours.js';

export interface BrandFacts {
  id: string;
  name: string;
  slug: string;
  isDefault: boolean;
  supportEmail: string;
  timeZone: string;
  defaultLocale: string;
  /** Verified hosts of its app. */
  appHosts: readonly string[];
  hosts: readonly string[];
}

interface Asked extends Omit<BrandFacts, 'appHosts' | 'hosts'> {
  domains: { host: string; purpose: string; status: string }[];
}

const BRANDS = stored(`query CommsBrands {
  brands(first: 100) { nodes { id slug name isDefault supportEmail timeZone defaultLocale domains { host purpose status } } }
}`);
const QUIET = stored('query CommsQuietHours($prefix: String) { effectiveConfig(prefix: $prefix) { key value } }');

const KEEP_MS = 60_000;
const DEFAULT_WINDOW: QuietWindow = { from: '21:00', to: '08:00' };
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

const brandOf = ({ domains, ...brand }: Asked): BrandFacts => {
  const verified = domains.filter(({ status }) => status === 'VERIFIED');
  return {
    ...brand,
    hosts: verified.map(({ host }) => host),
    appHosts: verified.filter(({ purpose }) => purpose === 'APP').map(({ host }) => host),
  };
};

interface Known {
  at: number;
  brands: Promise<readonly BrandFacts[]>;
  quiet: Promise<QuietWindow>;
}
const known = new WeakMap<ServiceHost, Known>();

async function quietOf(ctx: Context): Promise<QuietWindow> {
  const { effectiveConfig } = await ctx.federation.run<{ effectiveConfig: { key: string; value: unknown }[] }>(QUIET, {
    prefix: 'comms.quiet_hours',
  });
  const value = effectiveConfig.find(({ key }) => key === 'comms.quiet_hours')?.value as Partial<QuietWindow> | undefined;
  return value && TIME.test(value.from ?? '') && TIME.test(value.to ?? '') ? { from: value.from!, to: value.to! } : DEFAULT_WINDOW;
}

function ask(ctx: Context): Known {
  const old = known.get(ctx.host);
  if (old && Date.now() - old.at < KEEP_MS) return old;
  const brands = ctx.federation.run<{ brands: { nodes: Asked[] } }>(BRANDS).then(answer => answer.brands.nodes.map(brandOf));
  const made = { at: Date.now(), brands, quiet: quietOf(ctx) };
  known.set(ctx.host, made);
  Promise.all([made.brands, made.quiet]).catch(() => known.delete(ctx.host));
  return made;
}

/** All brands, as of at most a minute ago. @throws Problem unavailable. */
export const brandsOf = (ctx: Context): Promise<readonly BrandFacts[]> => ask(ctx).brands;

/** The quiet hours of who has set none. */
export const defaultQuiet = (ctx: Context): Promise<QuietWindow> => ask(ctx).quiet;

export const brandAmong = (brands: readonly BrandFacts[], id: string | null): BrandFacts =>
  brands.find(one => one.id === id) ?? brands.find(one => one.isDefault) ?? brands[0]!;
