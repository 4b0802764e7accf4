/** From revisions to what is delivered. Publication, slugs, keys, search row, event and audit row commit together. Source: content 3, rules 1-5, 8. */
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { definitionOf } from '../entities/collections.js';
import { isLocalised, type CollectionDefinition } from '../entities/definition.js';
import type { ContentStatus } from '../entities/enums.js';
import { requireItem, type ItemState } from '../queries/editors.js';
import { faultsOf } from '../rules/derived.js';
import { lacks, localesOf, SCHEMA_VERSION, targetsOf, titleOf, valuesIn, type Seo, type Snapshot, type Values } from '../rules/values.js';
import { noteChange } from './changes.js';
import { publishSlug, writeFilters } from './keys.js';
import { indexItem, unindexItem } from './search-index.js';

export interface PublishOptions {
  revision?: number | null;
  locales?: readonly string[] | null;
  allowDanglingReferences?: boolean | null;
  /** What pointers of violations begin with. */
  pointer?: string;
}

interface PublicationRow {
  locale: string;
  slug: string | null;
  audience: string;
  tags: string[];
  data: Values & { seo?: Seo };
  revision: number;
}

const PUBLISHED = 'select locale, slug, audience, tags, data, revision from content.content_publication where item_id = $1 order by locale';

const UPSERT = `insert into content.content_publication as p (item_id, locale, any_locale, collection, brand_id, audience, slug, title, tags, data, schema_version,
    revision, item_version, position, tested_on, created_at, first_published_at, published_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $17)
  on conflict (item_id, locale) do update set audience = excluded.audience, slug = excluded.slug, title = excluded.title, tags = excluded.tags,
    data = excluded.data, schema_version = excluded.schema_version, revision = excluded.revision, item_version = excluded.item_version,
    position = excluded.position, tested_on = excluded.tested_on, published_at = excluded.published_at, updated_at = excluded.updated_at`;

/** What of a snapshot is in force for all locales. */
const sharedOf = ({ audience, tags, shared }: Snapshot, definition: CollectionDefinition) => ({
  audience: definition.alwaysPublic ? ('PUBLIC' as const) : audience,
  tags,
  shared,
});

const localizedOf = (definition: CollectionDefinition, values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name === 'seo' || definition.fields[name]?.options.localized));

/** Media facts that a publication needs. */
interface Asset {
  item_id: string;
  status: string;
  mime_type: string;
  kind: string;
  sha256: string | null;
}

const assetOf = async (ctx: Context, id: unknown): Promise<Asset | undefined> =>
  (await ctx.sql<Asset>('select item_id, status, mime_type, kind, sha256 from content.media_asset where item_id = $1', [id]))[0];

/** What only other rows can tell. Source: content 4.4. */
async function outerFaults(ctx: Context, { collection, id }: ItemState, values: Values, pointer: string): Promise<Violation[]> {
  const say = (name: string, message: string): Violation[] => [{ pointer: `${pointer}/${name}`, message }];
  if (collection === 'MEDIA') {
    const asset = await assetOf(ctx, id);
    return asset?.status === 'READY' ? [] : say('id', 'must have been uploaded');
  }
  if (collection !== 'COAS') return [];
  const asset = await assetOf(ctx, values.file);
  const file = asset?.status === 'READY' && asset.mime_type === 'application/pdf' ? [] : say('fileId', 'must be an uploaded PDF');
  if (!values.supersedes) return file;
  const [before] = await ctx.sql<{ batch: string }>(
    `select r.data->'shared'->>'batchNumber' as batch from content.content_item i join content.content_revision r on r.item_id = i.id and r.number = i.revision
      where i.id = $1 and i.collection = 'COAS'`,
    [values.supersedes],
  );
  return before?.batch === values.batchNumber ? file : [...file, ...say('supersedesId', 'must be of the same batch')];
}

const UNPUBLISHED_TARGETS = `select t.id from unnest($1::uuid[]) as t(id)
  where t.id <> $2 and not exists (select 1 from content.content_publication p where p.item_id = t.id)`;

/** Media that an item uses are shown with it, whether they are published or not. */
async function requireTargets(ctx: Context, { id }: ItemState, targets: readonly string[]): Promise<void> {
  const missing = await ctx.sql<{ id: string }>(
    `${UNPUBLISHED_TARGETS} and not exists (select 1 from content.media_asset m where m.item_id = t.id and m.status = 'READY')`,
    [targets, id],
  );
  if (missing.length > 0)
    fail('conflict', `It refers to items that are not published: ${missing.map(one => one.id).join(', ')}`, {
      reason: 'unpublished_reference',
    });
}

/** Everything that stands in the way. @throws Problem invalid_request with every violation, conflict `unpublished_reference`. */
export async function requirePublishable(
  ctx: Context,
  state: ItemState,
  snapshot: Snapshot,
  locales: readonly string[],
  { allowDanglingReferences, pointer = '' }: PublishOptions,
): Promise<void> {
  const definition = definitionOf(state.collection);
  const today = ctx.now().toISOString().slice(0, 10);
  const found = new Map<string, Violation>();
  for (const locale of locales) {
    const values = valuesIn(snapshot, locale);
    const all = [
      ...lacks(definition, values, pointer),
      ...faultsOf(state.collection, values, today, pointer),
      ...(await outerFaults(ctx, state, values, pointer)),
    ];
    for (const one of all) if (!found.has(one.pointer)) found.set(one.pointer, one);
  }
  requireValid([...found.values()]);
  const targets = locales.flatMap(locale => targetsOf(definition, valuesIn(snapshot, locale), snapshot.seo[locale]));
  if (!allowDanglingReferences && targets.length > 0) await requireTargets(ctx, state, [...new Set(targets)]);
}

/** Locales to be published: the named ones, else those that are, else the one in which the item began. */
export function chosenLocales(state: ItemState, snapshot: Snapshot, asked: readonly string[] | null | undefined): string[] {
  const written = localesOf(definitionOf(state.collection), snapshot, state.base_locale);
  if (!isLocalised(definitionOf(state.collection))) return [state.base_locale];
  if (asked == null) {
    const published = (state.published ?? []).map(one => one.locale).filter(one => written.includes(one));
    return published.length > 0 ? published : [state.base_locale];
  }
  const unknown = asked.findIndex(one => !written.includes(one));
  if (unknown >= 0)
    fail('invalid_request', 'The input is invalid', { errors: [{ pointer: `/input/locales/${unknown}`, message: 'is not written' }] });
  return [...new Set(asked)];
}

interface Publication extends PublicationRow {
  isChanged: boolean;
}

/** What will be delivered: the named locales of the snapshot, the others with its shared fields. */
function publicationsOf(
  state: ItemState,
  snapshot: Snapshot,
  locales: readonly string[],
  before: readonly PublicationRow[],
): Publication[] {
  const definition = definitionOf(state.collection);
  const common = sharedOf(snapshot, definition);
  const seoOf = (locale: string) => (snapshot.seo[locale] ? { seo: snapshot.seo[locale] } : {});
  const named = locales.map(locale => ({
    locale,
    slug: snapshot.slugs[locale] ?? null,
    audience: common.audience,
    tags: common.tags,
    data: { ...valuesIn(snapshot, locale), ...seoOf(locale) } as Publication['data'],
    revision: state.number,
    isChanged: true,
  }));
  const others = before
    .filter(one => !locales.includes(one.locale))
    .map(one => {
      const next = {
        ...one,
        audience: common.audience,
        tags: common.tags,
        data: { ...common.shared, ...localizedOf(definition, one.data) },
      };
      const isChanged = sameJson([next.data, next.tags, next.audience]) !== sameJson([one.data, one.tags, one.audience]);
      return { ...next, revision: isChanged ? state.number : one.revision, isChanged };
    });
  return [...named, ...others];
}

/** JSON with its keys in order, because `jsonb` has its own. */
const sameJson = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

async function writePublication(ctx: Context, state: ItemState, one: Publication): Promise<void> {
  const definition = definitionOf(state.collection);
  const position = typeof one.data.position === 'number' ? one.data.position : null;
  const testedOn = typeof one.data.testedOn === 'string' ? one.data.testedOn : null;
  await ctx.sql(UPSERT, [
    state.id,
    one.locale,
    !isLocalised(definition),
    state.collection,
    state.brand_id,
    one.audience,
    one.slug,
    titleOf(definition, one.data),
    one.tags,
    JSON.stringify(one.data),
    SCHEMA_VERSION,
    one.revision,
    state.version,
    position,
    testedOn,
    state.created_at,
    ctx.now().toISOString(),
  ]);
  if (one.slug !== null) await publishSlug(ctx, definition, state, one.locale, one.slug);
}

const REFERENCES = `insert into content.content_reference (item_id, target_id, is_published) select $1, unnest($2::uuid[]), true on conflict do nothing`;

/** Rows that follow from what is delivered. */
async function writeDerived(ctx: Context, state: ItemState, published: ReadonlyMap<string, Publication['data']>): Promise<void> {
  const definition = definitionOf(state.collection);
  await writeFilters(ctx, definition, state, published);
  const targets = [...published.values()].flatMap(values => targetsOf(definition, values, values.seo));
  await ctx.sql('delete from content.content_reference where item_id = $1', [state.id]);
  if (targets.length > 0) await ctx.sql(REFERENCES, [state.id, [...new Set(targets)]]);
  await indexItem(ctx, definition, state.id);
}

const NOW_PUBLISHED = `update content.content_item set status = 'PUBLISHED', first_published_at = coalesce(first_published_at, $2) where id = $1`;

/** The hash of the file that a certificate rests on is fixed. */
async function withFileHash(ctx: Context, { collection }: ItemState, snapshot: Snapshot): Promise<Snapshot> {
  if (collection !== 'COAS' || !snapshot.shared.file) return snapshot;
  const asset = await assetOf(ctx, snapshot.shared.file);
  return { ...snapshot, shared: { ...snapshot.shared, fileSha256: asset?.sha256 } };
}

/** Publishes a revision in some locales; shared fields change in all that are published. @throws Problem invalid_request, conflict. */
export async function publish(ctx: Context, item: ItemState, options: PublishOptions = {}): Promise<void> {
  const state =
    options.revision == null || options.revision === item.number ? item : await requireItem(ctx, item.id, { revision: options.revision });
  if (state.status === 'ARCHIVED') fail('conflict', 'An archived item is not published; restore it first', { reason: 'archived' });
  const snapshot = await withFileHash(ctx, state, state.data);
  const locales = chosenLocales(state, snapshot, options.locales);
  await requirePublishable(ctx, state, snapshot, locales, options);
  const before = await ctx.sql<PublicationRow>(PUBLISHED, [state.id]);
  const publications = publicationsOf(state, snapshot, locales, before);
  for (const one of publications.filter(({ isChanged }) => isChanged)) {
    await writePublication(ctx, state, one);
    noteChange(ctx, state, before.some(({ locale }) => locale === one.locale) ? 'updated' : 'published', one.locale);
  }
  await ctx.sql(NOW_PUBLISHED, [state.id, ctx.now().toISOString()]);
  await writeDerived(ctx, state, new Map(publications.map(one => [one.locale, one.data])));
  ctx.audit('content_item.published', state.id, { revision: state.number, locales: locales.join(',') });
}

/** Takes locales, or all, out of what is delivered. */
export async function unpublish(
  ctx: Context,
  state: ItemState,
  locales: readonly string[] | null,
  status: ContentStatus = 'DRAFT',
): Promise<void> {
  const before = await ctx.sql<PublicationRow>(PUBLISHED, [state.id]);
  const gone = before.map(one => one.locale).filter(locale => locales === null || locales.includes(locale));
  await ctx.sql('delete from content.content_publication where item_id = $1 and locale = any($2)', [state.id, gone]);
  for (const locale of gone) noteChange(ctx, state, 'unpublished', locale);
  const left = new Map(before.filter(one => !gone.includes(one.locale)).map(one => [one.locale, one.data]));
  await unindexItem(ctx, state.id, gone);
  await writeDerived(ctx, state, left);
  const next = left.size > 0 ? 'PUBLISHED' : status;
  await ctx.sql('update content.content_item set status = $2 where id = $1', [state.id, next]);
  ctx.audit('content_item.unpublished', state.id, { locales: gone.join(',') });
}
