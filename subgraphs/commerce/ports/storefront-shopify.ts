import type { Config } from '../../../runtime/config.js';
import { parseNetworks } from '../../../runtime/http/public-address.js';
import {
  customerFrom,
  orderFrom,
  productFrom,
  type ShopifyCustomer,
  type ShopifyOrder,
  type ShopifyProduct,
} from '../rules/shopify-record.js';
import type { StorefrontCustomer, StorefrontOrder, StorefrontProduct } from '../rules/storefront-record.js';
import { ShopifyClient } from './shopify-client.js';
import * as documents from './shopify-documents.js';
import type { CustomerToTell, StorefrontPage, StorefrontPort, StorefrontQuery } from './storefront-port.js';

/** Tags of ours; others of the shop stay. */
const OURS = 'affiliate';

interface Listed<Node> {
  shop?: { currencyCode: string };
  nodes?: (Node | null)[];
  [root: string]: unknown;
}

type Page<Node> = { nodes: Node[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } };

/** Ids of objects as Shopify's calls name them are numbers; its API names them by address. */
const globalId = (type: string, id: string): string => (/^\d+$/.test(id) ? `gid://shopify/${type}/${id}` : id);

/** A record that cannot be read is named by its id, or by its place where it has none, and keeps no other from being read. */
function readRecords<Node, Row>(nodes: readonly Node[], cursor: string | null, from: (node: Node) => Row | null) {
  const [records, malformed]: [Row[], string[]] = [[], []];
  for (const [index, node] of nodes.entries())
    try {
      const row = from(node);
      if (row !== null) records.push(row);
    } catch {
      const { id } = (node ?? {}) as { id?: unknown };
      malformed.push(typeof id === 'string' ? id : `${cursor ?? 'first page'}, ${index + 1}`);
    }
  return { records, malformed };
}

/** A shop at Shopify, by its Admin API. */
export class ShopifyStorefront implements StorefrontPort {
  readonly system = 'shopify';

  /** @param brand slug of the brand whose shop it is; null: of the default one. */
  constructor(
    private readonly client: ShopifyClient,
    private readonly brand: string | null = null,
  ) {}

  serves({ slug, isDefault }: { slug: string; isDefault: boolean }): boolean {
    return this.brand === null ? isDefault : this.brand === slug;
  }

  /** Named objects, or a page of all. */
  async #list<Node, Row>(
    { root, type, list, read }: { root: string; type: string; list: string; read: string },
    { ids, cursor, since }: StorefrontQuery,
    from: (node: Node, currency: string) => Row | null,
  ): Promise<StorefrontPage<Row>> {
    const query = since === null ? null : `updated_at:>='${since.toISOString()}'`;
    const answer = ids
      ? await this.client.run<Listed<Node>>(read, { ids: ids.map(id => globalId(type, id)) })
      : await this.client.run<Listed<Node>>(list, { after: cursor, query });
    const page: Page<Node> = ids
      ? {
          nodes: answer.nodes!.filter(one => one !== null && Object.keys(one as object).length > 0) as Node[],
          pageInfo: { endCursor: null, hasNextPage: false },
        }
      : (answer[root] as Page<Node>);
    const next = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    return { ...readRecords(page.nodes, cursor, one => from(one, answer.shop?.currencyCode ?? '')), next };
  }

  listProducts(query: StorefrontQuery): Promise<StorefrontPage<StorefrontProduct>> {
    const source = { root: 'products', type: 'Product', list: documents.LIST_PRODUCTS, read: documents.READ_PRODUCTS };
    return this.#list<ShopifyProduct, StorefrontProduct>(source, query, productFrom);
  }

  listCustomers(query: StorefrontQuery): Promise<StorefrontPage<StorefrontCustomer>> {
    const source = { root: 'customers', type: 'Customer', list: documents.LIST_CUSTOMERS, read: documents.READ_CUSTOMERS };
    return this.#list<ShopifyCustomer, StorefrontCustomer>(source, query, customerFrom);
  }

  listOrders(query: StorefrontQuery): Promise<StorefrontPage<StorefrontOrder>> {
    const source = { root: 'orders', type: 'Order', list: documents.LIST_ORDERS, read: documents.READ_ORDERS };
    return this.#list<ShopifyOrder, StorefrontOrder>(source, query, orderFrom);
  }

  async upsertCustomer({ externalId, email, displayName }: CustomerToTell): Promise<string> {
    const identifier = externalId === null ? { email } : { id: externalId };
    const input = { email, ...(displayName !== null && { firstName: displayName }) };
    const { customerSet } = await this.client.run<{ customerSet: { customer: { id: string } } }>(documents.SET_CUSTOMER, {
      identifier,
      input,
    });
    return customerSet.customer.id;
  }

  async setCustomerGroups(id: string, groups: readonly string[]): Promise<void> {
    const { customer } = await this.client.run<{ customer: { tags: string[] } | null }>(documents.READ_TAGS, { id });
    const known = (customer?.tags ?? []).filter(one => one === OURS || one.startsWith(`${OURS}-`));
    const [gone, added] = [known.filter(one => !groups.includes(one)), groups.filter(one => !known.includes(one))];
    if (gone.length > 0) await this.client.run(documents.REMOVE_TAGS, { id, tags: gone });
    if (added.length > 0) await this.client.run(documents.ADD_TAGS, { id, tags: added });
  }

  async eraseCustomer(id: string): Promise<void> {
    await this.client.run(documents.ERASE_CUSTOMER, { id });
  }

  async adjustStock(id: string, quantity: number): Promise<void> {
    type Answer = { productVariant: { inventoryItem: { id: string } } | null };
    const { productVariant } = await this.client.run<Answer>(documents.READ_VARIANT, { id });
    if (!productVariant) return;
    const { locationId } = this.client.setting;
    const quantities = [{ inventoryItemId: productVariant.inventoryItem.id, locationId, quantity }];
    await this.client.run(documents.SET_STOCK, {
      input: { name: 'available', reason: 'correction', ignoreCompareQuantity: true, quantities },
    });
  }
}

/** @throws Error naming what is missing. */
export function shopifyStorefront(config: Config): ShopifyStorefront {
  const required = (name: string): string => {
    const value = config.setting(name);
    if (!value) throw new Error(`${name} is not set, and COMMERCE_STOREFRONT is shopify`);
    return value;
  };
  const url = required('COMMERCE_SHOPIFY_URL').replace(/\/+$/, '');
  const [token, locationId] = [required('COMMERCE_SHOPIFY_TOKEN'), required('COMMERCE_SHOPIFY_LOCATION')];
  const allowed = config.production ? [] : parseNetworks(config.setting('COMMERCE_EGRESS_ALLOW_CIDRS') ?? '');
  return new ShopifyStorefront(new ShopifyClient({ url, token, locationId, allowed }), config.setting('COMMERCE_SHOPIFY_BRAND') ?? null);
}
