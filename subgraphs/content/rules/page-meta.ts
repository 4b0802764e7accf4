/** What a page of the web says of itself: JSON-LD, Open Graph, Twitter, then plain HTML. Nothing of it is markup when it leaves. Source: content 4.5. */
import { Parser } from 'htmlparser2';
import type { LinkKind } from '../entities/enums.js';

export interface PageMeta {
  canonicalUrl: string | null;
  kind: LinkKind;
  title: string | null;
  description: string | null;
  siteName: string | null;
  author: string | null;
  publishedAt: string | null;
  imageUrl: string | null;
  imageWidth: number | null;
  imageHeight: number | null;
  faviconUrl: string | null;
  lang: string | null;
  product: { name: string | null; price: string | null; currency: string | null; availability: string | null } | null;
  oembedType: string | null;
}

interface Raw {
  meta: Map<string, string>;
  links: Map<string, string>;
  title: string;
  lang: string | null;
  jsonLd: Record<string, unknown>[];
  oembed: string | null;
}

const MOST_JSON = 100_000;

function read(html: string): Raw {
  const raw: Raw = { meta: new Map(), links: new Map(), title: '', lang: null, jsonLd: [], oembed: null };
  let [inside, json, isOver]: [string | null, string, boolean] = [null, '', false];
  const parser = new Parser({
    onopentag(name, attrs) {
      if (isOver) return;
      if (name === 'html') raw.lang = attrs.lang ?? null;
      if (name === 'body') isOver = true;
      if (name === 'title') inside = 'title';
      if (name === 'script' && /^application\/ld\+json$/i.test(attrs.type ?? '')) [inside, json] = ['json', ''];
      const key = (attrs.property ?? attrs.name ?? attrs.itemprop ?? '').toLowerCase();
      if (name === 'meta' && key !== '' && attrs.content && !raw.meta.has(key)) raw.meta.set(key, attrs.content);
      if (name !== 'link' || !attrs.href) return;
      for (const rel of (attrs.rel ?? '').toLowerCase().split(/\s+/)) if (!raw.links.has(rel)) raw.links.set(rel, attrs.href);
      if (/oembed/i.test(attrs.type ?? '')) raw.oembed = attrs.href;
    },
    ontext(text) {
      if (inside === 'title' && raw.title.length < 2000) raw.title += text;
      if (inside === 'json' && json.length < MOST_JSON) json += text;
    },
    onclosetag(name) {
      if (name === 'script' && inside === 'json') raw.jsonLd.push(...objectsIn(json));
      if (name === 'title' || name === 'script') inside = null;
      if (name === 'head') isOver = true;
    },
  });
  parser.end(html);
  return raw;
}

function objectsIn(json: string): Record<string, unknown>[] {
  try {
    const value = JSON.parse(json) as unknown;
    const all = [value].flat().flatMap(one => (isObject(one) && Array.isArray(one['@graph']) ? (one['@graph'] as unknown[]) : [one]));
    return all.filter(isObject).slice(0, 20);
  } catch {
    return [];
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const CONTROL = /[\p{Cc}\p{Cf}]+/gu;
/** Plain text of at most so many characters. */
const plain = (value: unknown, length: number): string | null => {
  if (typeof value !== 'string') return null;
  const text = value
    .replace(/<[^>]*>/g, ' ')
    .replace(CONTROL, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? null : [...text].slice(0, length).join('');
};

const https = (value: unknown, base: string): string | null => {
  const url = typeof value === 'string' ? URL.parse(value, base) : null;
  return url?.protocol === 'https:' && url.href.length <= 2048 ? url.href : null;
};

const first = (...values: unknown[]): unknown => values.find(one => typeof one === 'string' && one.trim() !== '');

const typesOf = (one: Record<string, unknown>): string[] => [one['@type']].flat().map(String);
const nameOf = (value: unknown): unknown => (isObject(value) ? value.name : Array.isArray(value) ? nameOf(value[0]) : value);
const imageIn = (value: unknown): unknown =>
  isObject(value) ? (value.url ?? value.contentUrl) : Array.isArray(value) ? imageIn(value[0]) : value;

function productOf(one: Record<string, unknown> | undefined, meta: Raw['meta']): PageMeta['product'] {
  const offer = [one?.offers].flat()[0];
  const price = isObject(offer) ? (offer.price ?? offer.lowPrice) : (meta.get('product:price:amount') ?? meta.get('og:price:amount'));
  if (!one && price === undefined) return null;
  return {
    name: plain(one?.name, 300),
    price: plain(price == null ? null : String(price), 32),
    currency: plain(isObject(offer) ? offer.priceCurrency : meta.get('product:price:currency'), 3),
    availability: plain(isObject(offer) ? String(offer.availability ?? '').replace(/^.*\//, '') : meta.get('product:availability'), 64),
  };
}

const dateOf = (value: unknown): string | null => {
  const at = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : new Date(at).toISOString();
};

const sizeOf = (value: unknown): number | null => {
  const size = Number(value);
  return Number.isInteger(size) && size > 0 && size < 100_000 ? size : null;
};

function kindOf({ meta }: Raw, types: readonly string[], product: PageMeta['product']): LinkKind {
  const og = meta.get('og:type') ?? '';
  if (product || types.includes('Product') || og.startsWith('product')) return 'PRODUCT';
  if (types.some(type => /VideoObject/.test(type)) || og.startsWith('video')) return 'VIDEO';
  if (types.some(type => /Article|BlogPosting|NewsArticle/.test(type)) || og === 'article') return 'ARTICLE';
  return 'WEBSITE';
}

/** @param url address of the page, after redirects */
export function pageMeta(html: string, url: string): PageMeta {
  const raw = read(html);
  const { meta, links } = raw;
  const types = raw.jsonLd.flatMap(typesOf);
  const main = raw.jsonLd.find(one => typesOf(one).some(type => /Article|Product|VideoObject|BlogPosting|WebPage/.test(type)));
  const product = productOf(
    raw.jsonLd.find(one => typesOf(one).includes('Product')),
    meta,
  );
  const host = new URL(url).host;
  const oembed = raw.oembed === null ? null : URL.parse(raw.oembed, url);
  return {
    canonicalUrl: https(first(links.get('canonical'), meta.get('og:url')), url),
    kind: kindOf(raw, types, product),
    title: plain(first(main?.headline, main?.name, meta.get('og:title'), meta.get('twitter:title'), raw.title), 300),
    description: plain(
      first(main?.description, meta.get('og:description'), meta.get('twitter:description'), meta.get('description')),
      1000,
    ),
    siteName: plain(first(meta.get('og:site_name'), nameOf(main?.publisher)), 300),
    author: plain(first(nameOf(main?.author), meta.get('article:author'), meta.get('author')), 300),
    publishedAt: dateOf(first(main?.datePublished, meta.get('article:published_time'))),
    imageUrl: https(first(imageIn(main?.image), meta.get('og:image:secure_url'), meta.get('og:image'), meta.get('twitter:image')), url),
    imageWidth: sizeOf(meta.get('og:image:width')),
    imageHeight: sizeOf(meta.get('og:image:height')),
    faviconUrl: https(first(links.get('icon'), links.get('apple-touch-icon'), '/favicon.ico'), url),
    lang: plain(raw.lang, 35),
    product,
    oembedType: oembed?.host === host ? (meta.get('og:type')?.startsWith('video') ? 'video' : 'rich') : null,
  };
}
