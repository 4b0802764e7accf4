import type { PersonalData } from '../entities/cart.js';
import { ProductStatus } from '../entities/enums.js';
import { minorUnits } from './money.js';
import type { StorefrontCustomer, StorefrontOrder, StorefrontProduct } from './storefront-record.js';

interface ShopMoney {
  shopMoney: { amount: string; currencyCode: string };
}

export interface ShopifyProduct {
  id: string;
  handle: string;
  title: string;
  descriptionHtml: string | null;
  status: string;
  tags: string[];
  variants: {
    nodes: {
      id: string;
      sku: string | null;
      title: string;
      barcode: string | null;
      price: string;
      inventoryQuantity: number | null;
      inventoryItem: {
        tracked: boolean;
        requiresShipping: boolean;
        measurement: { weight: { unit: string; value: number } | null } | null;
      };
    }[];
  };
}

export interface ShopifyCustomer {
  id: string;
  defaultEmailAddress: { emailAddress: string } | null;
}

export interface ShopifyOrder {
  id: string;
  cancelledAt: string | null;
  taxesIncluded: boolean;
  displayFinancialStatus: string | null;
  customer: ShopifyCustomer | null;
  shippingAddress: {
    name: string | null;
    address1: string | null;
    address2: string | null;
    city: string | null;
    provinceCode: string | null;
    zip: string | null;
    countryCodeV2: string | null;
    phone: string | null;
  } | null;
  lineItems: {
    nodes: {
      sku: string | null;
      title: string;
      quantity: number;
      originalUnitPriceSet: ShopMoney;
      discountAllocations: { allocatedAmountSet: ShopMoney }[];
      taxLines: { priceSet: ShopMoney }[];
    }[];
  };
  totalShippingPriceSet: ShopMoney;
  totalTaxSet: ShopMoney | null;
  totalPriceSet: ShopMoney;
}

const GRAMS: Readonly<Record<string, number>> = { GRAMS: 1, KILOGRAMS: 1_000, OUNCES: 28.349_523_125, POUNDS: 453.592_37 };

const gramsOf = (weight: { unit: string; value: number } | null | undefined): number | null =>
  weight && weight.value > 0 && GRAMS[weight.unit] ? Math.round(weight.value * GRAMS[weight.unit]!) : null;

/** What else there may be, as what is sold by its address alone, is not shown here. */
const STATUS: Readonly<Record<string, ProductStatus>> = { ACTIVE: ProductStatus.ACTIVE, DRAFT: ProductStatus.DRAFT };

/** @throws Error where a record has none. */
function text(given: unknown): string {
  if (typeof given !== 'string') throw new TypeError('a text is missing');
  return given;
}

/** @param currency the shop's. @throws Error for what is no product of Shopify, as those below. */
export const productFrom = (
  { id, handle, title, descriptionHtml, status, tags, variants }: ShopifyProduct,
  currency: string,
): StorefrontProduct => ({
  externalId: text(id),
  handle: text(handle),
  title: text(title),
  descriptionHtml,
  status: STATUS[status] ?? ProductStatus.ARCHIVED,
  tags,
  variants: variants.nodes.map(one => ({
    externalId: one.id,
    sku: one.sku ?? '',
    title: one.title === 'Default Title' ? title : one.title,
    barcode: one.barcode || null,
    price: { amount: minorUnits(one.price, currency), currency },
    weightGrams: gramsOf(one.inventoryItem.measurement?.weight),
    requiresShipping: one.inventoryItem.requiresShipping,
    quantity: one.inventoryItem.tracked ? one.inventoryQuantity : null,
  })),
});

export const customerFrom = ({ id, defaultEmailAddress }: ShopifyCustomer): StorefrontCustomer => ({
  externalId: text(id),
  emails: defaultEmailAddress ? [defaultEmailAddress.emailAddress] : [],
});

const unitsOf = ({ shopMoney: { amount, currencyCode } }: ShopMoney): number => minorUnits(amount, currencyCode);
const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);

function personalFrom(address: ShopifyOrder['shippingAddress']): PersonalData | null {
  if (!address?.address1 || !address.city || !address.countryCodeV2) return null;
  const { name, address1: line1, address2, city, provinceCode, zip, countryCodeV2: countryCode, phone } = address;
  const shippingAddress = { line1, line2: address2, city, region: provinceCode, postalCode: zip, countryCode };
  return { shippingAddress, billingAddress: null, recipientName: name, phone };
}

/** @returns null: it is not paid, and so does not count yet. */
export function orderFrom(order: ShopifyOrder): StorefrontOrder | null {
  const { id, cancelledAt, taxesIncluded, displayFinancialStatus, customer, shippingAddress, lineItems } = order;
  if (displayFinancialStatus !== 'PAID' && cancelledAt === null) return null;
  return {
    externalId: text(id),
    customer: customer && customerFrom(customer),
    currency: order.totalPriceSet.shopMoney.currencyCode,
    country: shippingAddress?.countryCodeV2 ?? null,
    lines: lineItems.nodes.map(one => ({
      sku: one.sku ?? '',
      title: one.title,
      quantity: one.quantity,
      unitPrice: unitsOf(one.originalUnitPriceSet),
      discount: sum(one.discountAllocations.map(part => unitsOf(part.allocatedAmountSet))),
      tax: sum(one.taxLines.map(part => unitsOf(part.priceSet))),
    })),
    shipping: unitsOf(order.totalShippingPriceSet),
    tax: order.totalTaxSet ? unitsOf(order.totalTaxSet) : 0,
    total: unitsOf(order.totalPriceSet),
    taxIncluded: taxesIncluded,
    isCancelled: cancelledAt !== null,
    personal: personalFrom(shippingAddress),
  };
}
