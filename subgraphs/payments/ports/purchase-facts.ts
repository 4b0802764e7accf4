import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { TERMS_PREFIX, type ConfigEntry } from './brand-terms.js';

const ASK = stored(`query PaymentsPurchase($client: ID!, $user: ID!, $places: Boolean!, $settings: Boolean!, $brand: ID, $prefix: String) {
  brands(first: 100) { nodes { id slug name legalName isDefault defaultCurrency domains @include(if: $places) { host status } } }
  oauthClient(id: $client) @include(if: $places) { redirectUris }
  user(id: $user) { id email brandId }
  effectiveConfig(brandId: $brand, prefix: $prefix) @include(if: $settings) { key value }
}`);

/** What payments must know of a storefront. */
export interface Brand {
  id: string;
  slug: string;
  name: string;
  legalName: string;
  isDefault: boolean;
  defaultCurrency: string;
  /** Verified host names. */
  hosts: readonly string[];
}

/** What payments must know of a buyer. */
export interface Account {
  id: string;
  email: string | null;
  brandId: string | null;
}

/** What others know of a purchase: storefronts, the app that asks, the buyer. */
export interface PurchaseFacts {
  brands: readonly Brand[];
  redirectUris: readonly string[];
  /** Null: there is no such person. */
  account: Account | null;
  /** Of the brand whose terms were asked for. */
  settings: readonly ConfigEntry[] | null;
}

interface Answer {
  brands: { nodes: (Omit<Brand, 'hosts'> & { domains?: { host: string; status: string }[] })[] };
  oauthClient?: { redirectUris: string[] } | null;
  user: Account | null;
  effectiveConfig?: readonly ConfigEntry[];
}

type Asker = Pick<ServiceHost, 'federation'>;

interface Asked {
  clientId: string;
  userId: string;
  /** Whether to ask for the hosts and redirects where somebody may be led; else they are none. */
  places: boolean;
  /** Brand whose settings are asked for as well. */
  settingsOf?: string | null;
}

const verified = (domains: readonly { host: string; status: string }[]): string[] =>
  domains.filter(({ status }) => status === 'VERIFIED').map(({ host }) => host);

/** Asks platform and identity at once; outside transactions. @throws Problem unavailable. */
export async function purchaseFacts({ federation }: Asker, { clientId, userId, places, settingsOf = null }: Asked): Promise<PurchaseFacts> {
  const asked = { client: clientId, user: userId, places, settings: settingsOf !== null, brand: settingsOf, prefix: TERMS_PREFIX };
  const { brands, oauthClient, user, effectiveConfig } = await federation.run<Answer>(ASK, asked);
  const shown = brands.nodes.map(({ domains = [], ...brand }) => ({ ...brand, hosts: verified(domains) }));
  return { brands: shown, redirectUris: oauthClient?.redirectUris ?? [], account: user, settings: effectiveConfig ?? null };
}
