import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { lazyPackage } from '../../../runtime/lazy.js';
import type { Violation } from '../../../runtime/request/errors.js';
import { move, type TransitionTable } from '../../../runtime/request/states.js';
import { BrandDomainStatus, BrandStatus, type BrandTheme } from '../entities/brand.js';
import { when } from './violations.js';

/** With the list of public suffixes. */
const tldts = lazyPackage<typeof import('tldts')>(import.meta.url, 'tldts');

const { ACTIVE, SUSPENDED, ARCHIVED } = BrandStatus;
export type BrandTrigger = 'suspend' | 'activate' | 'archive';

/** Source: platform 3. */
export const BRANDS = {
  [ACTIVE]: { suspend: SUSPENDED },
  [SUSPENDED]: { activate: ACTIVE, archive: ARCHIVED },
  [ARCHIVED]: {},
} as const satisfies TransitionTable<BrandStatus, BrandTrigger>;

/** @throws Problem conflict naming the state. */
export const moveBrand = (from: BrandStatus, trigger: BrandTrigger): BrandStatus =>
  move<BrandStatus, BrandTrigger>(BRANDS, 'brand', from, trigger);

const { PENDING, VERIFIED, FAILED } = BrandDomainStatus;

/** A verification that finds the record, and one that does not. Source: platform 3. */
export const DOMAINS = {
  [PENDING]: { verify: VERIFIED, fail: FAILED },
  [FAILED]: { verify: VERIFIED, fail: FAILED },
  [VERIFIED]: {},
} as const satisfies TransitionTable<BrandDomainStatus, 'verify' | 'fail'>;

/** @throws Problem conflict for a domain that is verified already. */
export const moveDomain = (from: BrandDomainStatus, found: boolean): BrandDomainStatus =>
  move<BrandDomainStatus, 'verify' | 'fail'>(DOMAINS, 'brand domain', from, found ? 'verify' : 'fail');

/** Name of the TXT record that proves a host. */
export const challengeOf = (host: string): string => `_platform-challenge.${host}`;

const HOST = /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/;
const MAX_HOST = 253;

/** A host as it is stored: lower-case A-label, no trailing dot, no port; null for what is no host name. */
export function storedHost(host: string): string | null {
  if (/[:/@?#\\%]/.test(host)) return null;
  const ascii = domainToASCII(host.replace(/\.$/, ''));
  return ascii.length <= MAX_HOST && HOST.test(ascii) ? ascii : null;
}

/** The host of a brand as it is stored, or why it cannot be one: no wildcard, address or public suffix. Source: platform 2. */
export function brandHost(text: string): { host: string } | { refusal: string } {
  const host = storedHost(text);
  if (host === null || isIP(host)) return { refusal: 'must be a host name without port or wildcard' };
  return tldts().parse(host, { allowPrivateDomains: true }).domain === null ? { refusal: 'is a public suffix' } : { host };
}

/** What a brand must hold together. */
export interface BrandForm {
  slug: string;
  defaultLocale: string;
  locales: readonly string[];
  defaultCurrency: string;
  currencies: readonly string[];
  countries: readonly string[];
  theme: BrandTheme;
}

const COLOUR = /^#[0-9a-fA-F]{6}$/;
/** `GET /v1/brands/resolve` would hide a brand of that slug. */
const TAKEN_SLUGS = ['resolve'];

const hasTwice = (values: readonly string[]): boolean => new Set(values).size < values.length;
const isHttps = (url: string | URL | null | undefined): boolean => url == null || String(url).startsWith('https://');

/** Everything that is wrong with a brand. */
export const brandViolations = ({ slug, theme, ...form }: BrandForm): Violation[] => [
  ...when(TAKEN_SLUGS.includes(slug), '/slug', 'is taken by the platform'),
  ...when(!form.locales.includes(form.defaultLocale), '/defaultLocale', 'is not among the locales'),
  ...when(!form.currencies.includes(form.defaultCurrency), '/defaultCurrency', 'is not among the currencies'),
  ...(['locales', 'currencies', 'countries'] as const).flatMap(name => when(hasTwice(form[name]), `/${name}`, 'names one twice')),
  ...(['primaryColor', 'accentColor'] as const).flatMap(name =>
    when(theme[name] != null && !COLOUR.test(theme[name]), `/theme/${name}`, 'must be a colour like #0B6E4F'),
  ),
  ...(['logoUrl', 'faviconUrl'] as const).flatMap(name => when(!isHttps(theme[name]), `/theme/${name}`, 'must be an https URL')),
];
