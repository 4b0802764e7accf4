import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const ASK = stored(`query PaymentsPurchase($client: ID!, $user: ID!) {
  brands(first: 100) { nodes { id slug name isDefault defaultCurrency domains { host status } } }
  oauthClient(id: $client) { redirectUris }
  user(id: $user) { id email brandId }
}`);

/** What payments must know of a storefront. */
export interface Brand {
  id: string;
  slug: string;
  name: string;
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
}

interface Answer {
  brands: { nodes: (Omit<Brand, 'hosts'> & { domains: { host: string; status: string }[] })[] };
  oauthClient: { redirectUris: string[] } | null;
  user: Account | null;
}

type Asker = Pick<ServiceHost, 'federation'>;

/** Asks platform and identity at once; outside transactions. @throws Problem unavailable. */
export async function purchaseFacts({ federation }: Asker, clientId: string, userId: string): Promise<PurchaseFacts> {
  const { brands, oauthClient, user } = await federation.run<Answer>(ASK, { client: clientId, user: userId });
  const shown = brands.nodes.map(({ domains, ...brand }) => ({
    ...brand,
    hosts: domains.filter(({ status }) => status === 'VERIFIED').map(({ host }) => host),
  }));
  return { brands: shown, redirectUris: oauthClient?.redirectUris ?? [], account: user };
}
