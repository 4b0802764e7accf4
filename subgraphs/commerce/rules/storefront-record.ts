import type { PersonalData } from '../entities/cart.js';
import type { ProductStatus } from '../entities/enums.js';

/** A variant as the storefront sells it; minor units. */
export interface StorefrontVariant {
  externalId: string;
  sku: string;
  title: string;
  barcode: string | null;
  price: { amount: number; currency: string };
  weightGrams: number | null;
  requiresShipping: boolean;
  /** Units that the storefront believes to be there; null: it does not count them. */
  quantity: number | null;
}

export interface StorefrontProduct {
  externalId: string;
  handle: string;
  title: string;
  descriptionHtml: string | null;
  /** What is a draft there is one here. */
  status: ProductStatus;
  tags: string[];
  variants: StorefrontVariant[];
}

export interface StorefrontCustomer {
  externalId: string;
  /** Addresses that the storefront knows them by. */
  emails: string[];
}

export interface StorefrontLine {
  sku: string;
  title: string;
  quantity: number;
  /** Minor units of the order's currency, like all amounts. */
  unitPrice: number;
  discount: number;
  tax: number;
}

/** An order that was paid in the storefront. `subtotal − discount + shipping + (taxIncluded ? 0 : tax) = total`. */
export interface StorefrontOrder {
  externalId: string;
  customer: StorefrontCustomer | null;
  currency: string;
  country: string | null;
  lines: StorefrontLine[];
  shipping: number;
  tax: number;
  total: number;
  taxIncluded: boolean;
  isCancelled: boolean;
  personal: PersonalData | null;
}
