import type { Network } from '../../../runtime/http/public-address.js';
import { postOutside, type OutsideAnswer } from './outside-http.js';
import { SHOPIFY_VERSION } from './shopify-documents.js';
import { StorefrontBusy } from './storefront-port.js';

const DEADLINE_MS = 10_000;
/** How long is waited where a refusal does not say. */
const UNKNOWN_WAIT = null;

export interface ShopifySetting {
  /** `https://<shop>.myshopify.com`. */
  url: string;
  /** Access token of the app. */
  token: string;
  /** Where stock is set. */
  locationId: string;
  allowed: readonly Network[];
}

interface Cost {
  requestedQueryCost: number;
  throttleStatus: { currentlyAvailable: number; restoreRate: number };
}

interface Answer<Data> {
  data?: Data | null;
  errors?: { message: string; extensions?: { code?: string } }[];
  extensions?: { cost?: Cost };
}

type UserErrors = { userErrors?: { field: string[] | null; message: string }[] } | null;

function waitOf({ headers }: OutsideAnswer): number | null {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : UNKNOWN_WAIT;
}

/** The Admin API: one token, one leaky bucket of costs, which is asked for no more than it holds. https://shopify.dev/docs/api/usage/limits */
export class ShopifyClient {
  #bucket: { available: number; restoreRate: number; at: number } | null = null;
  readonly #costs = new Map<string, number>();

  constructor(readonly setting: ShopifySetting) {}

  /** @throws StorefrontBusy; Error for whatever is no whole answer. Messages of Shopify may name people: they go nowhere. */
  async run<Data extends object>(document: string, variables: object): Promise<Data> {
    this.#requireRoom(document);
    const { url, token, allowed } = this.setting;
    const answer = await postOutside(`${url}/admin/api/${SHOPIFY_VERSION}/graphql.json`, {
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-shopify-access-token': token },
      body: JSON.stringify({ query: document, variables }),
      deadlineMs: DEADLINE_MS,
      allowed,
    });
    if (answer.status === 429) throw new StorefrontBusy(waitOf(answer));
    if (answer.status !== 200) throw new Error(`Shopify answered with ${answer.status}`);
    return this.#read<Data>(document, JSON.parse(answer.text) as Answer<Data>);
  }

  #read<Data extends object>(document: string, { data, errors, extensions }: Answer<Data>): Data {
    const cost = extensions?.cost;
    if (cost) this.#note(document, cost);
    if (errors?.some(one => one.extensions?.code === 'THROTTLED')) throw new StorefrontBusy(this.#waitFor(document) || UNKNOWN_WAIT);
    if (errors?.length || !data) throw new Error('Shopify refused a document');
    const refused = Object.values(data).some(one => ((one as UserErrors)?.userErrors ?? []).length > 0);
    if (refused) throw new Error('Shopify refused an input');
    return data;
  }

  #note(document: string, { requestedQueryCost, throttleStatus }: Cost): void {
    this.#costs.set(document, requestedQueryCost);
    const { currentlyAvailable: available, restoreRate } = throttleStatus;
    this.#bucket = { available, restoreRate, at: performance.now() };
  }

  /** Ms until the bucket holds what a document costs; 0: it does, as far as is known. */
  #waitFor(document: string): number {
    const [bucket, cost] = [this.#bucket, this.#costs.get(document)];
    if (!bucket || cost === undefined) return 0;
    const available = bucket.available + ((performance.now() - bucket.at) / 1_000) * bucket.restoreRate;
    return Math.max(0, Math.ceil(((cost - available) / bucket.restoreRate) * 1_000));
  }

  #requireRoom(document: string): void {
    const wait = this.#waitFor(document);
    if (wait > 0) throw new StorefrontBusy(wait);
  }
}
