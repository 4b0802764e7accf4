import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { TERMS_PREFIX, type ConfigEntry } from './brand-terms.js';

const FACTS = `brands(first: 100) { nodes { id slug name legalName isDefault defaultCurrency domains { host status } } }
  oauthClient(id: $client) { redirectUris }
  user(id: $user) { id email brandId }`;
const ASK = stored(`query PaymentsPurchase($client: ID!, $user: ID!) { ${FACTS} }`);
const ASK_WITH_TERMS = stored(`query PaymentsPurchaseTerms($client: ID!, $user: ID!, $brand: ID!, $prefix: String) {
  ${FACTS}
  effectiveConfig(brandId: $brand, prefix: $prefix) { key value }
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
  brands: { nodes: (Omit<Brand, 'hosts'> & { domains: { host: string; status: string }[] })[] };
  oauthClient: { redirectUris: string[] } | null;
  user: Account | null;
  effectiveConfig?: readonly ConfigEntry[];
}

type Asker = Pick<ServiceHost, 'federation'>;

/**
 * Asks platform and identity at once; outside transactions. @param termsOf brand whose settings are asked for as well.
 * @throws Problem unavailable.
 */
export async function purchaseFacts({ federation }: Asker, clientId: string, userId: string, termsOf?: string): Promise<PurchaseFacts> {
  const asked = { client: clientId, user: userId };
  const { brands, oauthClient, user, effectiveConfig } = await (termsOf === undefined
    ? federation.run<Answer>(ASK, asked)
    : federation.run<Answer>(ASK_WITH_TERMS, { ...asked, brand: termsOf, prefix: TERMS_PREFIX }));
  const shown = brands.nodes.map(({ domains, ...brand }) => ({
    ...brand,
    hosts: domains.filter(({ status }) => status === 'VERIFIED').map(({ host }) => host),
  }));
  return { brands: shown, redirectUris: oauthClient?.redirectUris ?? [], account: user, settings: effectiveConfig ?? null };
}
