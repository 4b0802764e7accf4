import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { CommerceSyncKind } from '../entities/enums.js';
import { brandsOf } from '../ports/brands.js';
import { storefrontOf } from '../ports/storefront.js';
import { SYNC_KINDS, type Exchange } from './sync-kinds.js';

/** What the storefront calls about, by the first part of a topic, as in `orders/create`. */
const KINDS: Readonly<Record<string, CommerceSyncKind>> = {
  products: CommerceSyncKind.PRODUCTS,
  orders: CommerceSyncKind.CHANNEL_ORDERS,
  customers: CommerceSyncKind.CUSTOMER_PROFILES,
};

const NOT_TAKEN = 'an object of the storefront was not taken over';

/** An object of the storefront as it is now. */
export interface SyncObject {
  kind: CommerceSyncKind;
  exchange: Exchange;
  row: unknown;
  facts: unknown;
}

/** Reads an object anew that the storefront called about: what the call said is not believed. @returns null: it is gone, or none of ours. */
export async function readObject(host: ServiceHost, topic: string, externalId: string | null): Promise<SyncObject | null> {
  const kind = KINDS[topic.split('/')[0]!];
  if (kind === undefined || externalId === null) return null;
  const port = storefrontOf(host);
  for (const brand of (await brandsOf(host)).filter(one => port.serves(one))) {
    const exchange: Exchange = { host, port, brand, isDryRun: false };
    const { records, malformed = [] } = await SYNC_KINDS[kind].page(exchange, {
      brandId: brand.id,
      since: null,
      ids: [externalId],
      cursor: null,
    });
    if (malformed.length > 0) host.log.warn({ kind, code: 'malformed_record' }, NOT_TAKEN);
    const [row] = records;
    if (row) return { kind, exchange, row, facts: await SYNC_KINDS[kind].prepare(exchange, row) };
  }
  return null;
}

/** Takes it over like a record of a run. */
export async function takeObject(ctx: Context, { kind, exchange, row, facts }: SyncObject): Promise<void> {
  const outcome = await SYNC_KINDS[kind].take(ctx, exchange, row, facts);
  if (outcome.code !== undefined) ctx.log.warn({ kind, code: outcome.code }, NOT_TAKEN);
}
