import { addressFault } from '../../../runtime/http/outside-url.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { LinkCardKind, ProductStatus } from '../entities/enums.js';
import { Product } from '../entities/product.js';
import type { LinkCard } from '../entities/sync.js';
import type { UnfurlLinkInput } from '../inputs/sync.js';
import { brandsOf } from '../ports/brands.js';
import { linkPreview } from '../ports/link-preview.js';
import { callerKey, takeLimit } from './rate-limits.js';

const PRODUCT_PATH = /^\/products\/([a-z0-9-]{1,80})\/?$/;

/** Our own product behind an address; null: it is none. Nothing is fetched. */
async function ownProduct(ctx: Context, url: URL): Promise<Product | null> {
  const slug = PRODUCT_PATH.exec(url.pathname)?.[1];
  const brand = (await brandsOf(ctx.host)).find(one => one.hosts.includes(url.hostname));
  return slug === undefined || !brand ? null : findRow(ctx, Product, { brandId: brand.id, slug, status: ProductStatus.ACTIVE });
}

const cardOf = (url: string, product: Product): LinkCard => ({
  url,
  kind: LinkCardKind.PRODUCT,
  title: product.title,
  description: product.subtitle,
  imageUrl: product.images[0]?.url ?? null,
  siteName: null,
  product,
});

/**
 * What is behind an address: a product of ours from the catalogue, anything else by content's one fetcher.
 * @throws Problem invalid_request `url_not_allowed`, rate_limited; unavailable while content is absent. Source: commerce 4.3.
 */
export const linkCard = preparation(async (ctx: Context, { input: { url: text } }: { input: UnfurlLinkInput }): Promise<LinkCard> => {
  takeLimit(ctx, 'unfurl', callerKey(ctx));
  const fault = addressFault(text);
  if (fault !== null)
    fail('invalid_request', 'The address must not be fetched', {
      reason: 'url_not_allowed',
      errors: [{ pointer: '/url', message: fault }],
    });
  const product = await ownProduct(ctx, new URL(text));
  if (product) return cardOf(text, product);
  const nothing = { url: text, title: null, description: null, imageUrl: null, siteName: null };
  return { ...nothing, ...(await linkPreview(ctx.host, text)), kind: LinkCardKind.PAGE, product: null };
});
