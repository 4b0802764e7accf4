import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { ContentBodyFormat } from '../entities/enums.js';
import { brandFor, brandsOf, type BrandFacts } from '../ports/brands.js';
import { canonicalLocale, fallbackChain, negotiated } from '../rules/locales.js';
import { readersOf, type Readers } from './readers.js';

/** For whom, of which brand and in which language something is read. Everything that is delivered goes through one. */
export interface View {
  /** Equal for equal views; names batches of loaders. */
  key: string;
  brand: BrandFacts;
  requested: string;
  chain: readonly string[];
  readers: Readers;
  bodyFormat: ContentBodyFormat;
  mediaBase: string;
  /** Civil date, UTC. */
  today: string;
}

export interface Asked {
  locale?: string | null;
  fallback?: boolean;
  brand?: string | null;
  bodyFormat?: ContentBodyFormat | null;
}

/** Where files lie: `MEDIA_BASE_URL`, in development the base URL. */
export const mediaBaseOf = ({ host }: Context): string => (host.config.setting('MEDIA_BASE_URL') ?? host.config.baseUrl).replace(/\/$/, '');

const keyOf = ({ brand, requested, chain, readers, bodyFormat }: Omit<View, 'key'>): string =>
  [brand.id, requested, chain.join('>'), readers.audiences.join('+'), readers.papers, readers.editor, bodyFormat].join('|');

/** The view of a caller, of known brands. @throws Problem not_found for a foreign brand. */
export function viewFor(ctx: Context, brands: readonly BrandFacts[], asked: Asked, defaultFormat: ContentBodyFormat = 'HTML'): View {
  const brand = brandFor(ctx, brands, asked.brand);
  const requested =
    asked.locale == null ? negotiated(ctx.request.language, brand.locales, brand.defaultLocale) : canonicalLocale(asked.locale);
  const view = {
    brand,
    requested,
    chain: fallbackChain(requested, brand.defaultLocale, asked.fallback ?? true),
    readers: readersOf(ctx.caller),
    bodyFormat: asked.bodyFormat ?? defaultFormat,
    mediaBase: mediaBaseOf(ctx),
    today: ctx.now().toISOString().slice(0, 10),
  };
  return { ...view, key: keyOf(view) };
}

/** The view of a request. @throws Problem not_found for a foreign brand, unavailable without platform. */
export const viewOf = async (ctx: Context, asked: Asked, defaultFormat: ContentBodyFormat): Promise<View> =>
  viewFor(ctx, await brandsOf(ctx), asked, defaultFormat);

/** The view that fields of other services' types are read by. */
export const defaultView = (ctx: Context): Promise<View> => viewOf(ctx, {}, 'HTML');

/** @throws Problem forbidden where the caller is no editor. */
export function requireEditor({ readers }: View): void {
  if (!readers.editor) fail('forbidden', 'Only editors see what is not published');
}
