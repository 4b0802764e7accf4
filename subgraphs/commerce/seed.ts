import { newId } from '../../runtime/data/ids.js';
import type { Context } from '../../runtime/request/context.js';
import { seedCatalogue } from './commands/sample-catalogue.js';
import { seedStorefront } from './commands/sample-storefront.js';

/** The two development brands. Source: conventions 8, platform 4.4. */
const MAIN = '0190b3a0-0000-7000-8000-000000000001';
const SECOND = '0190b3a0-0000-7000-8000-000000000002';

const LOCATION = `insert into commerce.inventory_location (id, code, name, countries, priority) values ($1, $2, $3, $4, $5)`;
const TAX = `insert into commerce.tax_rate (id, country, region, category, name, ppm) values ($1, $2, $3, $4, $5, $6)`;
const ZONE = 'insert into commerce.shipping_zone (id, brand_id, name, countries) values ($1, $2, $3, $4)';
const RATE = `
insert into commerce.shipping_rate (id, zone_id, code, name, currency, amount, min_subtotal, max_subtotal, min_days, max_days)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

async function rates(ctx: Context): Promise<void> {
  for (const [country, region, category, name, ppm] of [
    ['US', '', '', 'Sales tax', 0],
    ['US', 'CA', '', 'California sales tax', 82_500],
    ['US', 'NY', '', 'New York sales tax', 88_750],
    ['DE', '', '', 'Umsatzsteuer', 190_000],
    ['DE', '', 'food', 'Umsatzsteuer', 70_000],
  ] as const)
    await ctx.sql(TAX, [newId(), country, region, category, name, ppm]);
}

async function shipping(ctx: Context, brandId: string): Promise<void> {
  const [us, de] = [newId(), newId()];
  await ctx.sql(ZONE, [us, brandId, 'United States', ['US']]);
  await ctx.sql(ZONE, [de, brandId, 'Germany', ['DE']]);
  await ctx.sql(RATE, [newId(), us, 'standard', 'Standard', 'USD', 599, 0, 15_000, 3, 5]);
  await ctx.sql(RATE, [newId(), us, 'standard', 'Standard', 'USD', 0, 15_000, null, 3, 5]);
  await ctx.sql(RATE, [newId(), us, 'express', 'Express', 'USD', 1_499, 0, null, 1, 2]);
  await ctx.sql(RATE, [newId(), de, 'standard', 'Standard', 'EUR', 490, 0, null, 2, 4]);
}

/** Development data: forty products, or as many as `COMMERCE_SEED_PRODUCTS` says; tests have the first five. */
export async function seed(ctx: Context): Promise<void> {
  await ctx.sql(LOCATION, ['0190b3a0-0000-7000-8000-000000c00001', 'east', 'East warehouse', ['US'], 1]);
  await ctx.sql(LOCATION, ['0190b3a0-0000-7000-8000-000000c00002', 'west', 'West warehouse', ['US', 'DE'], 2]);
  await rates(ctx);
  for (const brandId of [MAIN, SECOND]) await shipping(ctx, brandId);
  const many = Number(ctx.host.config.setting('COMMERCE_SEED_PRODUCTS') ?? 40);
  await seedCatalogue(ctx, [MAIN, SECOND], many);
  await seedStorefront(ctx, MAIN);
}
