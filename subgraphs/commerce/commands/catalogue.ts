import { isDeepStrictEqual } from 'node:util';
import { inputReader } from '../../../runtime/bulk/input.js';
import type { TakeRow } from '../../../runtime/bulk/import.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { invalid, requireValid } from '../../../runtime/request/errors.js';
import { Product } from '../entities/product.js';
import type { CreateProductInput } from '../inputs/product.js';
import type { Brand } from '../ports/brands.js';
import { catalogueRows } from '../queries/catalogue.js';
import { FIXED, merged, type CatalogueRow } from '../rules/catalogue.js';
import { changeProduct, makeProduct } from './product.js';

/** A row is for the product of its slug: made, or changed where it says something else. @throws Problem for what a product cannot be. */
export function productImport(host: ServiceHost, brand: Brand): TakeRow {
  const read = inputReader<CreateProductInput>(host.schema, 'CreateProductInput');
  return async (ctx, row) => {
    if ('brand_id' in row) invalid('/brand_id', 'is named by the query, as a slug');
    const product = typeof row.slug === 'string' ? await lockedProduct(ctx, brand.id, row.slug) : null;
    if (!product) {
      await makeProduct(ctx, brand, read({ ...row, brand_id: brand.id }));
      return 'created';
    }
    const [known] = await catalogueRows(ctx, [product]);
    return changeBy(ctx, { brand, product, known: known!, row, read });
  };
}

const lockedProduct = async (ctx: Context, brandId: string, slug: string): Promise<Product | null> => {
  await ctx.sql('select 1 from commerce.product where brand_id = $1 and slug = $2 for update', [brandId, slug]);
  return ctx.em.findOne(Product, { brandId, slug }, { refresh: true });
};

interface Change {
  brand: Brand;
  product: Product;
  known: CatalogueRow;
  row: Record<string, unknown>;
  read: (row: Record<string, unknown>) => CreateProductInput;
}

async function changeBy(ctx: Context, { brand, product: { id }, known, row, read }: Change): Promise<'updated' | 'unchanged'> {
  const [before, wanted] = [read(known), merged(known, row)];
  const after = read(wanted);
  if (isDeepStrictEqual(before, after)) return 'unchanged';
  requireValid(
    FIXED.filter(name => !isDeepStrictEqual(known[name], wanted[name])).map(name => ({
      pointer: `/${name}`,
      message: 'is that of the product for ever',
    })),
  );
  const { subtitle = null, entitlementKey = null, descriptionHtml = null, ...others } = after;
  await changeProduct(ctx, brand, { ...others, subtitle, entitlementKey, descriptionHtml, id });
  return 'updated';
}
