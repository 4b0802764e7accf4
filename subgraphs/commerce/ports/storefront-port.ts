import type { StorefrontCustomer, StorefrontOrder, StorefrontProduct } from '../rules/storefront-record.js';

export interface StorefrontPage<Row> {
  records: Row[];
  /** Records that are not what the storefront says its records are, by their ids there; the others of the page are whole. */
  malformed?: string[];
  /** Cursor of the next page; null: this is the last one. */
  next: string | null;
}

/** What of the storefront is wanted. */
export interface StorefrontQuery {
  brandId: string;
  /** Changed since then. */
  since: Date | null;
  /** Ids of the storefront; null: all. */
  ids: readonly string[] | null;
  cursor: string | null;
}

/** A customer as the storefront is told of them, and nothing else. Source: commerce 7.24. */
export interface CustomerToTell {
  userId: string;
  brandId: string;
  /** Null: they are not there yet. */
  externalId: string | null;
  email: string;
  displayName: string | null;
}

/**
 * The outside storefront. Every call may be repeated: writes name what they write. Source: commerce 8.
 * @throws StorefrontBusy when it wants to be asked later; Error for anything else, as for silence.
 */
export interface StorefrontPort {
  /** Name under which links are kept. */
  readonly system: string;
  /** Whether a brand has its shop there. */
  serves(brand: { slug: string; isDefault: boolean }): boolean;
  listProducts(query: StorefrontQuery): Promise<StorefrontPage<StorefrontProduct>>;
  listCustomers(query: StorefrontQuery): Promise<StorefrontPage<StorefrontCustomer>>;
  listOrders(query: StorefrontQuery): Promise<StorefrontPage<StorefrontOrder>>;
  /** @returns the storefront's id of the customer. */
  upsertCustomer(customer: CustomerToTell): Promise<string>;
  /** The groups of ours that a customer is in; others of the storefront stay. */
  setCustomerGroups(externalId: string, groups: readonly string[]): Promise<void>;
  eraseCustomer(externalId: string): Promise<void>;
  /** Sets how many units of a variant can be sold. */
  adjustStock(externalVariantId: string, available: number): Promise<void>;
}

/** The storefront wants to be asked again later. @param waitMs null: it does not say when. @param isDown it is left alone, because it failed. */
export class StorefrontBusy extends Error {
  constructor(
    readonly waitMs: number | null,
    readonly isDown = false,
  ) {
    super('the storefront wants to be asked later');
  }
}
