import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { addDays } from '../rules/cadence.js';
import { CadenceUnit, ProductKind, ProductStatus, PurchaseRequirement, StockMovementKind } from '../entities/enums.js';
import { InventoryLot } from '../entities/inventory.js';
import { Product, ProductVariant } from '../entities/product.js';
import { todayOf } from '../queries/stock.js';
import { ensureSomeLevel } from './inventory.js';
import { indexProduct, writePrices } from './product.js';
import { move } from './stock.js';

interface Sample {
  slug: string;
  title: string;
  sku: string;
  usd: number;
  category: string;
  tags: string[];
  tax: string;
  requirement?: PurchaseRequirement;
  isBundle?: boolean;
  stock: number;
}

/** The first five are those of tests: a supplement with lots, a plain good, a bundle of it, one for members, one on prescription. */
const FIRST: readonly Sample[] = [
  {
    slug: 'omega-3',
    title: 'Omega-3 1000 mg',
    sku: 'OMEGA-1000',
    usd: 1_999,
    category: 'supplements/oils',
    tags: ['heart', 'daily'],
    tax: 'supplement',
    stock: 200,
  },
  {
    slug: 'bpc-157',
    title: 'BPC-157 5 mg',
    sku: 'BPC157-5',
    usd: 4_500,
    category: 'research/peptides',
    tags: ['recovery'],
    tax: 'medical',
    stock: 60,
  },
  {
    slug: 'starter-pack',
    title: 'Starter pack',
    sku: 'STARTER',
    usd: 5_499,
    category: 'bundles',
    tags: ['daily'],
    tax: 'supplement',
    isBundle: true,
    stock: 0,
  },
  {
    slug: 'member-mug',
    title: 'Member mug',
    sku: 'MUG-1',
    usd: 1_200,
    category: 'accessories',
    tags: ['members'],
    tax: 'standard',
    requirement: PurchaseRequirement.MEMBERSHIP,
    stock: 100,
  },
  {
    slug: 'metformin',
    title: 'Metformin 500 mg',
    sku: 'METF-500',
    usd: 2_900,
    category: 'pharmacy',
    tags: ['glucose'],
    tax: 'medical',
    requirement: PurchaseRequirement.PRESCRIPTION,
    stock: 100,
  },
];

const GOODS = [
  'Magnesium glycinate',
  'Vitamin D3',
  'Creatine',
  'Whey isolate',
  'Collagen',
  'Ashwagandha',
  'Zinc',
  'Electrolytes',
  'Probiotic',
  'Curcumin',
  'Coenzyme Q10',
  'Vitamin K2',
  'Melatonin',
  'Greens',
  'Protein bar',
  'Blood-pressure monitor',
  'Sleep mask',
  'Foam roller',
];
const slugOf = (title: string): string => title.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** Further products, the same each time. */
const more = (count: number): Sample[] =>
  Array.from({ length: Math.max(0, count) }, (_, index) => {
    const [good, size] = [GOODS[index % GOODS.length]!, 30 * (1 + Math.floor(index / GOODS.length))];
    const title = `${good} ${size}`;
    const letters = good.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
    const sku = `${letters.slice(0, 4)}${letters.slice(-2)}-${size}`;
    return {
      slug: slugOf(title),
      title,
      sku,
      usd: 900 + ((index * 373) % 60) * 100,
      category: index % 3 ? 'supplements' : 'accessories',
      tags: ['daily', `tag-${index % 5}`],
      tax: 'supplement',
      stock: 40 + (index % 7) * 10,
    };
  });

/** Of products and variants of the seed: `…cd0001`, so that tests and content know them. */
const fixedId = (kind: 'd' | 'e', number: number): string => `0190b3a0-0000-7000-8000-000000c${kind}${String(number).padStart(4, '0')}`;
/** Pictures that content draws. Source: its `pictureId`. */
const imageOf = (number: number): string => `/content/v1/files/by-id/0190b3a0-0000-7000-8000-0000000c0${String(number).padStart(3, '0')}`;

function productOf(ctx: Context, brandId: string, sample: Sample, number: number): Product {
  const { slug, title, tax, tags, category, requirement = PurchaseRequirement.NONE, isBundle } = sample;
  const [monthly, weekly] = [
    { unit: CadenceUnit.MONTH, count: 1 },
    { unit: CadenceUnit.WEEK, count: 2 },
  ];
  const given = {
    id: fixedId('d', number),
    brandId,
    slug,
    title,
    taxCategory: tax,
    tags,
    categories: [category],
    purchaseRequirement: requirement,
  };
  const times = { createdAt: ctx.now(), updatedAt: ctx.now(), publishedAt: ctx.now() };
  return Object.assign(new Product(), given, times, {
    status: ProductStatus.ACTIVE,
    kind: isBundle ? ProductKind.BUNDLE : ProductKind.PHYSICAL,
    medicationCode: requirement === PurchaseRequirement.PRESCRIPTION ? 'metformin_500' : null,
    entitlementKey: requirement === PurchaseRequirement.MEMBERSHIP ? 'shop.members' : null,
    descriptionHtml: `<p>${title}.</p>`,
    images: [{ url: imageOf(number), alt: title, width: 640, height: 480, position: 0, variantIds: [] }],
    offers: [
      { cadence: monthly, discountBps: 1_000 },
      { cadence: { unit: CadenceUnit.MONTH, count: 2 }, discountBps: 500 },
      { cadence: weekly, discountBps: 500 },
    ],
  });
}

async function addStock(ctx: Context, variant: ProductVariant, stock: number): Promise<void> {
  await ensureSomeLevel(ctx, variant.id);
  const [place] = await ctx.sql<{ locationId: string }>(
    'select location_id as "locationId" from commerce.inventory_level where variant_id = $1',
    [variant.id],
  );
  const { locationId } = place!;
  const parts = variant.lotTracked ? [Math.ceil(stock / 2), Math.floor(stock / 2)] : [stock];
  for (const [index, quantity] of parts.entries()) {
    const lotNumber = variant.lotTracked ? `L-${variant.sku}-${index + 1}` : null;
    const expiresOn = addDays(todayOf(ctx), 200 + 200 * index);
    const lot =
      lotNumber === null
        ? null
        : Object.assign(new InventoryLot(), {
            variantId: variant.id,
            locationId,
            lotNumber,
            expiresOn,
            onHand: 0,
            createdAt: ctx.now(),
            updatedAt: ctx.now(),
          });
    if (lot) await ctx.em.persist(lot).flush();
    await move(
      ctx,
      { variantId: variant.id, locationId, lotNumber, kind: StockMovementKind.RECEIPT, quantity, reference: 'seed' },
      lot?.id ?? null,
    );
  }
}

async function addProduct(ctx: Context, brandId: string, sample: Sample, number: number): Promise<void> {
  const product = productOf(ctx, brandId, sample, number);
  const { sku, title, isBundle = false, usd, stock } = sample;
  const times = { createdAt: ctx.now(), updatedAt: ctx.now() };
  const lotTracked = !isBundle && number % 2 === 1;
  const variant = Object.assign(new ProductVariant(), {
    id: fixedId('e', number),
    productId: product.id,
    sku,
    title,
    position: 0,
    isBundle,
    trackInventory: !isBundle,
    lotTracked,
    weightGrams: 200,
    ...times,
  });
  await ctx.em.persist([product, variant]).flush();
  const eur = Math.round(usd * 0.95);
  await writePrices(ctx, variant.id, brandId, [
    { amount: { amount: usd, currency: 'USD' }, taxInclusive: false },
    { amount: { amount: eur, currency: 'EUR' }, taxInclusive: true },
  ]);
  if (isBundle)
    await ctx.sql('insert into commerce.variant_component (variant_id, component_id, quantity) values ($1, $2, 2), ($1, $3, 1)', [
      variant.id,
      fixedId('e', 1),
      fixedId('e', 2),
    ]);
  else await addStock(ctx, variant, stock);
  await indexProduct(ctx, product.id);
}

/** Products with prices, lots and pictures; the first five belong to the main brand, of the rest every fourth to the other. */
export async function seedCatalogue(
  ctx: Context,
  [main, second]: readonly [string, string] | readonly string[],
  count: number,
): Promise<void> {
  const samples = [...FIRST, ...more(count - FIRST.length)].slice(0, count);
  for (const [index, sample] of samples.entries())
    await addProduct(ctx, index >= FIRST.length && index % 4 === 0 ? second! : main!, sample, index + 1);
  await ctx.sql(`insert into commerce.embedded_promo (brand_id, code, id, percent_bps) values ($1, 'SAVE10', $2, 1000)`, [main, newId()]);
}
