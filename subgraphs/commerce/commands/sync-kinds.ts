import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { CommerceSyncKind } from '../entities/enums.js';
import type { Brand } from '../ports/brands.js';
import { partnersOf, profileHash, profileOf, usersByEmail, type Partner, type Profile } from '../ports/people.js';
import type { StorefrontPage, StorefrontPort, StorefrontQuery } from '../ports/storefront-port.js';
import { linkOfEntity, type StorefrontLink } from '../queries/storefront-link.js';
import { buyersPage } from '../queries/sync.js';
import { contentHash, skipped, type Outcome } from '../rules/storefront.js';
import type { StorefrontCustomer, StorefrontOrder, StorefrontProduct } from '../rules/storefront-record.js';
import { isForgotten } from './erasure.js';
import { leaveStorefrontErasure } from './storefront-erasure.js';
import { writeLink } from './storefront-link.js';
import { matchCustomer, takeCustomer } from './sync-customer.js';
import { takeOrder } from './sync-order.js';
import { takeProduct, tellStock } from './sync-product.js';

/** What a run works with. */
export interface Exchange {
  host: ServiceHost;
  port: StorefrontPort;
  brand: Brand;
  /** Nothing may be written, here or there. */
  isDryRun: boolean;
}

/** One direction of the exchange. */
export interface SyncKind<Row = any, Facts = any> {
  page(exchange: Exchange, query: StorefrontQuery): Promise<StorefrontPage<Row>>;
  /** Names a record within a run. */
  keyOf(row: Row): { externalId: string | null; entityId: string | null };
  /** Asks others, and tells them, outside transactions. */
  prepare(exchange: Exchange, row: Row): Promise<Facts>;
  /** Takes it over, or notes that it was told, in a transaction. */
  take(ctx: Context, exchange: Exchange, row: Row, facts: Facts): Promise<Outcome>;
  /** What is told once it is taken over. */
  tell?(ctx: Context, exchange: Exchange, row: Row): Promise<void>;
}

const kind = <Row, Facts>(one: SyncKind<Row, Facts>): SyncKind => one;

const external = ({ externalId }: { externalId: string }) => ({ externalId, entityId: null });

const products = kind<StorefrontProduct, null>({
  page: ({ port }, query) => port.listProducts(query),
  keyOf: external,
  prepare: async () => null,
  take: (ctx, { port, brand }, row) => takeProduct(ctx, port.system, brand, row),
  tell: (ctx, { port, brand }, row) => tellStock(ctx, port, brand.id, row),
});

const customers = kind<StorefrontCustomer, string[]>({
  page: ({ port }, query) => port.listCustomers(query),
  keyOf: external,
  prepare: ({ host }, { emails }) => usersByEmail(host, emails),
  take: (ctx, { port }, row, candidates) => takeCustomer(ctx, port.system, row, candidates),
});

const orders = kind<StorefrontOrder, string[]>({
  page: ({ port }, query) => port.listOrders(query),
  keyOf: external,
  prepare: async ({ host }, { customer }) => (customer ? usersByEmail(host, customer.emails) : []),
  take: async (ctx, { port, brand }, row, candidates) => {
    const known = row.customer && (await matchCustomer(ctx, port.system, row.customer, candidates));
    if (known?.outcome.code === 'ambiguous_customer') return known.outcome;
    return takeOrder(ctx, port.system, brand, row, known?.userId ?? null);
  },
});

type Told = { link: StorefrontLink; isNew: boolean } | { outcome: Outcome };

/** What was told is noted. */
const noted =
  (type: 'customer' | 'customer_group') =>
  async (ctx: Context, { port }: Exchange, _row: unknown, told: Told) => {
    if ('outcome' in told) return told.outcome;
    if (await isForgotten(ctx, told.link.entityId)) {
      await leaveStorefrontErasure(ctx, [told.link]); // forgotten here while the storefront was told
      return skipped('erased');
    }
    await writeLink(ctx, port.system, type, told.link);
    return { kind: told.isNew ? 'created' : 'updated' } as Outcome;
  };

const UNCHANGED: Told = { outcome: { kind: 'unchanged' } };

async function tellProfile({ host, port, brand, isDryRun }: Exchange, userId: string, profile: Profile): Promise<Told> {
  const link = await host.read(ctx => linkOfEntity(ctx, port.system, 'customer', userId));
  const hash = profileHash(host, profile);
  if (link?.contentHash === hash) return UNCHANGED;
  const customer = { userId, brandId: brand.id, externalId: link?.externalId ?? null, ...profile };
  const externalId = isDryRun ? (link?.externalId ?? userId) : await port.upsertCustomer(customer);
  return { link: { entityId: userId, externalId, contentHash: hash }, isNew: link === null };
}

const profiles = kind<{ userId: string }, Told>({
  page: ({ host }, query) => host.read(ctx => buyersPage(ctx, query)),
  keyOf: ({ userId }) => ({ externalId: null, entityId: userId }),
  prepare: async (exchange, { userId }) => {
    const profile = await profileOf(exchange.host, userId);
    return profile ? tellProfile(exchange, userId, profile) : { outcome: skipped('no_verified_account') };
  },
  take: noted('customer'),
});

async function tellGroups({ host, port, isDryRun }: Exchange, { userId, groups: wanted }: Partner): Promise<Told> {
  const [customer, told] = await host.read(async ctx => [
    await linkOfEntity(ctx, port.system, 'customer', userId),
    await linkOfEntity(ctx, port.system, 'customer_group', userId),
  ]);
  if (!customer) return { outcome: skipped('no_customer') };
  const { externalId } = customer;
  const hash = contentHash([externalId, wanted]);
  if (told?.contentHash === hash) return UNCHANGED;
  if (!isDryRun) await port.setCustomerGroups(externalId, wanted);
  return { link: { entityId: userId, externalId, contentHash: hash }, isNew: told === null };
}

const groups = kind<Partner, Told>({
  page: async ({ host, brand }, { ids }) => {
    const partners = await partnersOf(host, brand.id);
    return { records: partners.filter(one => ids === null || ids.includes(one.userId)), next: null };
  },
  keyOf: ({ userId }) => ({ externalId: null, entityId: userId }),
  prepare: tellGroups,
  take: noted('customer_group'),
});

export const SYNC_KINDS: Readonly<Record<CommerceSyncKind, SyncKind>> = {
  [CommerceSyncKind.PRODUCTS]: products,
  [CommerceSyncKind.CUSTOMER_PROFILES]: customers,
  [CommerceSyncKind.CHANNEL_ORDERS]: orders,
  [CommerceSyncKind.PROFILES_TO_STOREFRONT]: profiles,
  [CommerceSyncKind.AFFILIATE_CUSTOMER_GROUPS]: groups,
};
