import type { ServiceHost } from '../../../runtime/request/context.js';
import type { StorefrontCustomer, StorefrontOrder, StorefrontProduct } from '../rules/storefront-record.js';
import { StorefrontBusy, type CustomerToTell, type StorefrontPage, type StorefrontPort, type StorefrontQuery } from './storefront-port.js';

/** Records on a page. */
const PAGE = 20;
const RATE_LIMIT_MS = 2_000;

const spend = `update commerce.embedded_storefront_fault set times = times - 1 where point = $1 and times > 0 returning times`;

/** Faults that the tables ask for: a 429, silence, silence after the first page, a page shown twice, each so often; pages in reverse while there is such a row. */
async function plays(host: ServiceHost, point: string): Promise<boolean> {
  return host.transaction(async ctx => (await ctx.sql(spend, [point])).length > 0);
}

interface Row {
  externalId: string;
  data: object;
}

/** Customers have no time of change. */
const LISTS = {
  product: `select external_id as "externalId", data from commerce.embedded_storefront_product
    where brand_id = $1 and ($2::text is null or external_id > $2) and ($3::text[] is null or external_id = any($3)) and ($4::timestamptz is null or updated_at >= $4)`,
  order: `select external_id as "externalId", data from commerce.embedded_storefront_order
    where brand_id = $1 and ($2::text is null or external_id > $2) and ($3::text[] is null or external_id = any($3)) and ($4::timestamptz is null or updated_at >= $4)`,
  customer: `select external_id as "externalId", data from commerce.embedded_storefront_customer
    where brand_id = $1 and ($2::text is null or external_id > $2) and ($3::text[] is null or external_id = any($3)) and erased_at is null`,
};

/** A storefront in tables of ours, for development and tests: what a seller would see at the vendor stands in `embedded_storefront_*`. */
export class EmbeddedStorefront implements StorefrontPort {
  readonly system = 'embedded';
  readonly serves = (): boolean => true;

  constructor(private readonly host: ServiceHost) {}

  async #answers(): Promise<void> {
    if (await plays(this.host, 'rate_limit')) throw new StorefrontBusy(RATE_LIMIT_MS);
    if (await plays(this.host, 'timeout')) throw new Error('the storefront is silent');
  }

  async #list<Record>(kind: keyof typeof LISTS, { brandId, cursor, ids, since }: StorefrontQuery): Promise<StorefrontPage<Record>> {
    await this.#answers();
    if (cursor !== null && (await plays(this.host, 'timeout_later'))) throw new Error('the storefront is silent');
    const isReversed =
      (await this.host.read(ctx => ctx.sql(`select 1 from commerce.embedded_storefront_fault where point = 'reversed_pages'`))).length > 0;
    const list = isReversed ? LISTS[kind].replace('external_id > $2', 'external_id < $2') : LISTS[kind];
    const text = `${list} order by external_id ${isReversed ? 'desc' : 'asc'} limit ${PAGE + 1}`;
    const changed = kind === 'customer' ? [] : [since?.toISOString() ?? null];
    const rows = await this.host.read(ctx => ctx.sql<Row>(text, [brandId, cursor, ids, ...changed]));
    const shown = rows.slice(0, PAGE);
    const records = shown.map(({ externalId, data }) => ({ ...data, externalId }) as Record);
    const isRepeated = rows.length > PAGE && (await plays(this.host, 'repeated_page'));
    return { records, next: rows.length > PAGE ? (isRepeated ? (cursor ?? (isReversed ? '~' : '')) : shown.at(-1)!.externalId) : null };
  }

  listProducts(query: StorefrontQuery): Promise<StorefrontPage<StorefrontProduct>> {
    return this.#list('product', query);
  }

  listCustomers(query: StorefrontQuery): Promise<StorefrontPage<StorefrontCustomer>> {
    return this.#list('customer', query);
  }

  listOrders(query: StorefrontQuery): Promise<StorefrontPage<StorefrontOrder>> {
    return this.#list('order', query);
  }

  async #write(text: string, values: unknown[]): Promise<void> {
    await this.#answers();
    await this.host.transaction(async ctx => void (await ctx.sql(text, values)));
  }

  /** The user's id is the key of who is new: a repeat finds them. */
  async upsertCustomer({ userId, brandId, externalId, email, displayName }: CustomerToTell): Promise<string> {
    const id = externalId ?? `customer-${userId}`;
    await this.#write(
      `insert into commerce.embedded_storefront_customer (external_id, brand_id, data) values ($1, $2, $3)
       on conflict (external_id) do update set data = commerce.embedded_storefront_customer.data || excluded.data`,
      [id, brandId, JSON.stringify({ emails: [email], displayName })],
    );
    return id;
  }

  setCustomerGroups(externalId: string, groups: readonly string[]): Promise<void> {
    return this.#write('update commerce.embedded_storefront_customer set groups = $2 where external_id = $1', [externalId, groups]);
  }

  eraseCustomer(externalId: string): Promise<void> {
    const text = `update commerce.embedded_storefront_customer set data = '{}', groups = '{}', erased_at = coalesce(erased_at, now()) where external_id = $1`;
    return this.#write(text, [externalId]);
  }

  adjustStock(externalVariantId: string, available: number): Promise<void> {
    const text = `update commerce.embedded_storefront_product p set data = jsonb_set(data, '{variants}', (
        select jsonb_agg(case when v->>'externalId' = $1 then v || jsonb_build_object('quantity', $2::int) else v end order by n)
        from jsonb_array_elements(p.data->'variants') with ordinality as list(v, n)))
      where p.data->'variants' @> jsonb_build_array(jsonb_build_object('externalId', $1::text))`;
    return this.#write(text, [externalVariantId, available]);
  }
}
