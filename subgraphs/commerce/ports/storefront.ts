import type { ServiceHost } from '../../../runtime/request/context.js';
import { EmbeddedStorefront } from './storefront-embedded.js';
import { shopifyStorefront } from './storefront-shopify.js';
import { StorefrontBusy, type StorefrontPort } from './storefront-port.js';

/** After so many failures in a row the storefront is left alone for a while. Source: commerce 7.30. */
const TRIPS_AFTER = 5;
const OPEN_MS = 30_000;

/** Keeps calls from a storefront that does not answer. A call that is let through after the pause closes it, or opens it anew. */
class Breaker {
  #failures = 0;
  #openUntil = 0;

  async run<T>(call: () => Promise<T>): Promise<T> {
    const left = this.#openUntil - performance.now();
    if (left > 0) throw new StorefrontBusy(Math.ceil(left), true);
    try {
      const answer = await call();
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (!(error instanceof StorefrontBusy) && ++this.#failures >= TRIPS_AFTER) this.#openUntil = performance.now() + OPEN_MS;
      throw error;
    }
  }
}

const guarded = (port: StorefrontPort, breaker: Breaker): StorefrontPort => ({
  system: port.system,
  serves: brand => port.serves(brand),
  listProducts: query => breaker.run(() => port.listProducts(query)),
  listCustomers: query => breaker.run(() => port.listCustomers(query)),
  listOrders: query => breaker.run(() => port.listOrders(query)),
  upsertCustomer: customer => breaker.run(() => port.upsertCustomer(customer)),
  setCustomerGroups: (id, groups) => breaker.run(() => port.setCustomerGroups(id, groups)),
  eraseCustomer: id => breaker.run(() => port.eraseCustomer(id)),
  adjustStock: (id, available) => breaker.run(() => port.adjustStock(id, available)),
});

/** The one that is configured: tables of ours, or with `COMMERCE_STOREFRONT=shopify` a shop there. @throws Error. */
function chosen(host: ServiceHost): StorefrontPort {
  const kind = host.config.setting('COMMERCE_STOREFRONT') ?? 'embedded';
  if (kind === 'shopify') return shopifyStorefront(host.config);
  if (kind !== 'embedded') throw new Error('COMMERCE_STOREFRONT must be one of embedded, shopify');
  return new EmbeddedStorefront(host);
}

const ports = new WeakMap<ServiceHost, StorefrontPort>();

/** The storefront of a running service. */
export function storefrontOf(host: ServiceHost): StorefrontPort {
  let port = ports.get(host);
  if (!port) ports.set(host, (port = guarded(chosen(host), new Breaker())));
  return port;
}
