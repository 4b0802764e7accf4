/** Cards of addresses, and what outside pages say of themselves. Source: content 4.5, rules 15-16. */
import { createHash } from 'node:crypto';
import { rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import type { FetchedPage } from '../../../runtime/http/guarded-fetch.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { Turns } from '../../../runtime/request/turns.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { COLLECTIONS } from '../entities/collections.js';
import type { ContentCard } from '../entities/item.js';
import type { LinkPreview } from '../entities/link-preview.js';
import type { ContentCollection, LinkFetchStatus } from '../entities/enums.js';
import { brandsOf } from '../ports/brands.js';
import { normalisedUrl, outsidePage } from '../ports/link-pages.js';
import { pageMeta, type PageMeta } from '../rules/page-meta.js';
import { matchPath } from '../rules/routes.js';
import { cardOf } from './cards.js';
import { deliverBySlug, delivered, loadItem, publishedRows, Statement } from './delivery.js';
import type { Item } from './present.js';
import { viewFor, type View } from './view.js';

const GOOD_MS = 24 * 60 * MINUTE_MS;
const BAD_MS = 10 * MINUTE_MS;
const perCaller = rateLimitPerHost(30, MINUTE_MS);
const PER_SITE = 5;

type Stored = PageMeta & { url: string; finalUrl: string | null; fetchStatus: LinkFetchStatus; fetchedAt: string };

const NOTHING: PageMeta = {
  canonicalUrl: null,
  kind: 'WEBSITE',
  title: null,
  description: null,
  siteName: null,
  author: null,
  publishedAt: null,
  imageUrl: null,
  imageWidth: null,
  imageHeight: null,
  faviconUrl: null,
  lang: null,
  product: null,
  oembedType: null,
};

function statusOf({ status, type, end }: FetchedPage): LinkFetchStatus {
  if (status >= 400 || status < 200) return 'HTTP_ERROR';
  if (!/^(text\/html|application\/xhtml\+xml)$/.test(type)) return 'NOT_HTML';
  return end === 'cut' ? 'TOO_LARGE' : end === 'late' ? 'TIMEOUT' : 'OK';
}

function storedOf(url: string, page: FetchedPage | 'late' | null, now: Date): Stored {
  const base = { ...NOTHING, url, finalUrl: null, fetchedAt: now.toISOString() };
  if (page === null || page === 'late') return { ...base, fetchStatus: page === null ? 'HTTP_ERROR' : 'TIMEOUT' };
  const fetchStatus = statusOf(page);
  if (fetchStatus === 'HTTP_ERROR') return { ...base, finalUrl: page.url, fetchStatus };
  if (fetchStatus === 'NOT_HTML')
    return { ...base, finalUrl: page.url, fetchStatus, kind: page.type.startsWith('image/') ? 'IMAGE' : 'DOCUMENT' };
  return { ...base, ...pageMeta(page.bytes.toString('utf8'), page.url), finalUrl: page.url, fetchStatus };
}

const previewOf = (stored: Stored): LinkPreview => ({
  ...stored,
  publishedAt: stored.publishedAt === null ? null : new Date(stored.publishedAt),
  fetchedAt: new Date(stored.fetchedAt),
});

const keyOf = (url: string): string => createHash('sha256').update(url).digest('hex');
const KNOWN = 'select data from content.link_preview where url_hash = $1 and expires_at > $2';
const KEEP = `insert into content.link_preview (url_hash, url, data, fetched_at, expires_at) values ($1, $2, $3, $4, $5)
  on conflict (url_hash) do update set data = excluded.data, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at`;

interface UnderWay {
  fetches: Map<string, Promise<Stored>>;
  sites: Map<string, Turns>;
}
const underWay = new WeakMap<ServiceHost, UnderWay>();

function underWayOf(host: ServiceHost): UnderWay {
  let known = underWay.get(host);
  if (!known) underWay.set(host, (known = { fetches: new Map(), sites: new Map() }));
  return known;
}

const busy = (): Error => new Problem('unavailable', 'Too many requests to this site at once', { retryAfter: 5 });

async function fetchedNow(host: ServiceHost, url: string, now: Date): Promise<Stored> {
  const { sites } = underWayOf(host);
  const site = new URL(url).host;
  const turns = sites.get(site) ?? new Turns(PER_SITE, 20, busy);
  if (sites.size > 1000) sites.clear();
  sites.set(site, turns);
  const stored = storedOf(url, await turns.run(() => outsidePage(host.config, url)), now);
  const until = new Date(now.getTime() + (stored.fetchStatus === 'OK' || stored.fetchStatus === 'NOT_HTML' ? GOOD_MS : BAD_MS));
  await host.transaction(ctx => ctx.sql(KEEP, [keyOf(url), url, JSON.stringify(stored), now.toISOString(), until.toISOString()]));
  return stored;
}

/** One fetch per address at a time. */
function fetchedOnce(host: ServiceHost, url: string, now: Date): Promise<Stored> {
  const { fetches } = underWayOf(host);
  const running = fetches.get(url);
  if (running) return running;
  const fetching = fetchedNow(host, url, now).finally(() => fetches.delete(url));
  fetches.set(url, fetching);
  return fetching;
}

/** What an outside page says of itself. @throws Problem invalid_request `url_not_allowed`, rate_limited, unavailable. */
export async function linkPreview(ctx: Context, text: string): Promise<LinkPreview> {
  const { userId, clientId, serviceSlug } = ctx.caller;
  if (serviceSlug === null) ctx.count(perCaller, userId ?? clientId); // a service of ours has counted whoever it asks for
  const url = normalisedUrl(text);
  const [known] = await ctx.sql<{ data: Stored }>(KNOWN, [keyOf(url), ctx.now().toISOString()]);
  return previewOf(known?.data ?? (await fetchedOnce(ctx.host, url, ctx.now())));
}

/** One answer per address; null for what is refused. */
export const linkPreviews = (ctx: Context, urls: readonly string[]): Promise<(LinkPreview | null)[]> =>
  Promise.all(
    urls.map(url =>
      linkPreview(ctx, url).catch(error => {
        if (error instanceof Problem && error.code === 'invalid_request') return null;
        throw error;
      }),
    ),
  );

const linkCard = ({ finalUrl, url, title, description, imageUrl, imageWidth, imageHeight, siteName, lang }: LinkPreview): ContentCard => ({
  type: 'LINK',
  url: finalUrl ?? url,
  title: title ?? url,
  description,
  image: imageUrl === null ? null : { url: imageUrl, width: imageWidth, height: imageHeight, alt: null },
  badge: null,
  meta: siteName === null ? [] : [{ label: 'Site', value: siteName }],
  locale: lang !== null && /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(lang) ? lang : null,
});

/** The page of a path. */
async function pageByPath(ctx: Context, view: View, path: string): Promise<Item | null> {
  const sql = new Statement();
  const where = [`p.collection = 'PAGES' and p.data->>'path' = ${sql.add(path)}`];
  const [row] = await publishedRows(ctx, view, sql, { where });
  return row ? delivered(row, view) : null;
}

async function ofCollection(ctx: Context, view: View, collection: ContentCollection, by: 'slug' | 'id', key: string): Promise<Item | null> {
  if (by === 'slug') return (await deliverBySlug(ctx, view, collection, key))?.item ?? null;
  const item = await loadItem(ctx, view, key);
  return item?.collection === collection ? item : null;
}

/** What an address of the brand's storefront shows. Products and sessions have cards once their services are there. */
async function ownCard(ctx: Context, view: View, path: string): Promise<ContentCard | null> {
  const matched = matchPath(path);
  if (!matched || matched.target === 'PRODUCT' || matched.target === 'LIVE_SESSION') return null;
  const item =
    matched.by === 'path'
      ? await pageByPath(ctx, view, matched.key)
      : await ofCollection(ctx, view, matched.target, matched.by, matched.key);
  return item && cardOf(ctx, item);
}

export interface CardAsked {
  url?: string | null;
  slug?: string | null;
  collection?: ContentCollection | null;
  external?: boolean;
  locale?: string | null;
  brand?: string | null;
}

async function cardOfSlug(
  ctx: Context,
  view: View,
  slug: string,
  collection: ContentCollection | null | undefined,
): Promise<ContentCard | null> {
  for (const { collection: one } of COLLECTIONS.filter(
    ({ slug: has, collection: known }) => has && (collection == null || collection === known),
  )) {
    const found = await deliverBySlug(ctx, view, one, slug);
    if (found) return cardOf(ctx, found.item);
  }
  return null;
}

/** The card of an address or slug; null where there is none. @throws Problem invalid_request. */
export async function autocard(ctx: Context, asked: CardAsked): Promise<ContentCard | null> {
  if ((asked.url == null) === (asked.slug == null))
    fail('invalid_request', 'The input is invalid', { errors: [{ pointer: '/input/url', message: 'give either a url or a slug' }] });
  const brands = await brandsOf(ctx);
  const view = viewFor(ctx, brands, asked, 'NONE');
  if (asked.slug != null) return cardOfSlug(ctx, view, asked.slug, asked.collection);
  const url = new URL(normalisedUrl(asked.url!));
  if (view.brand.hosts.includes(url.hostname)) return ownCard(ctx, view, url.pathname);
  const isForeignBrand = brands.some(({ hosts }) => hosts.includes(url.hostname));
  if (!asked.external || isForeignBrand) return null;
  const preview = await linkPreview(ctx, url.href);
  return preview.title === null ? null : linkCard(preview);
}

/** One card per address; null where there is none. */
export const autocards = (ctx: Context, urls: readonly string[]): Promise<(ContentCard | null)[]> =>
  Promise.all(
    urls.map(url =>
      autocard(ctx, { url }).catch(error => {
        if (error instanceof Problem && (error.code === 'invalid_request' || error.code === 'not_found')) return null;
        throw error;
      }),
    ),
  );
