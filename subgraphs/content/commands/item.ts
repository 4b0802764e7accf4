/** Making and changing items. What is delivered never changes by it. Source: content 3, 4.4. */
import { isDeepStrictEqual } from 'node:util';
import { mayAccess } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { definitionOf } from '../entities/collections.js';
import type { CollectionDefinition } from '../entities/definition.js';
import type { ContentCollection } from '../entities/enums.js';
import { preparedBrands, type BrandFacts } from '../ports/brands.js';
import { itemState, requireItem, type ItemState } from '../queries/editors.js';
import { derived } from '../rules/derived.js';
import { canonicalLocale } from '../rules/locales.js';
import { applied, emptySnapshot, SCHEMA_VERSION, titleOf, valuesIn, type Findings, type Snapshot } from '../rules/values.js';
import { freeDraftSlugs, makeSlug, takeSlug, writeUniques } from './keys.js';
import { tellChanges } from './changes.js';
import { publish, unpublish } from './publish.js';
import { scheduleOne } from './release.js';

/** Fields of create and update inputs that every collection has. */
interface Given {
  brandId?: string | null;
  locale?: string | null;
  slug?: string | null;
  takeOverSlug?: boolean | null;
  status?: 'DRAFT' | 'PUBLISHED' | null;
  publishAt?: Date | null;
}

const PUBLISHERS = { service: 'admin:content', staff: 'admin:content:publish' };

const INSERT_ITEM = `insert into content.content_item (id, collection, brand_id, base_locale, status, version, revision, source_ref, created_at, updated_at, created_by, updated_by)
  values ($1, $2, $3, $4, 'DRAFT', 1, 1, $5, $6, $6, $7, $7)`;
const INSERT_REVISION = `insert into content.content_revision (item_id, number, schema_version, data, created_at, created_by) values ($1, $2, $3, $4, $5, $6)`;

export const insertRevision = (ctx: Context, itemId: string, number: number, snapshot: Snapshot) =>
  ctx.sql(INSERT_REVISION, [itemId, number, SCHEMA_VERSION, JSON.stringify(snapshot), ctx.now().toISOString(), ctx.caller.userId]);

/** The brand of a new item, and the locale of its fields. */
export function placeOf(brands: readonly BrandFacts[], { brandId, locale }: Given): { brandId: string | null; locale: string } {
  const brand = brandId == null ? brands.find(one => one.isDefault) : brands.find(one => one.id === brandId.toLowerCase());
  if (!brand) invalid('/input/brandId', 'is no brand');
  return { brandId: brandId == null ? null : brand.id, locale: canonicalLocale(locale ?? brand.defaultLocale) };
}

export interface NewItem {
  id?: string;
  brandId: string | null;
  locale: string;
  input: object;
  /** What it was made from, so that it is made once. */
  sourceRef?: string;
}

export interface Written {
  state: ItemState;
  warnings: readonly string[];
}

/** A draft. @throws Problem invalid_request, conflict. */
export async function addItem(
  ctx: Context,
  definition: CollectionDefinition,
  { id = newId(), brandId, locale, input, sourceRef }: NewItem,
): Promise<Written> {
  const found: Findings = { violations: [], warnings: [] };
  const snapshot = applied(definition, emptySnapshot(), input, locale, found);
  requireValid(found.violations);
  snapshot.shared = derived(definition.collection, snapshot.shared);
  if (definition.alwaysPublic) snapshot.audience = 'PUBLIC';
  const item = { id, brand_id: brandId, base_locale: locale };
  if (definition.slug) snapshot.slugs[locale] = await slugOfNew(ctx, definition, item, input as Given, snapshot);
  await ctx.sql(INSERT_ITEM, [id, definition.collection, brandId, locale, sourceRef ?? null, ctx.now().toISOString(), ctx.caller.userId]);
  await insertRevision(ctx, id, 1, snapshot);
  await writeUniques(ctx, definition, item, snapshot);
  ctx.audit('content_item.created', id, { collection: definition.collection });
  return { state: await requireItem(ctx, id), warnings: found.warnings };
}

async function slugOfNew(
  ctx: Context,
  definition: CollectionDefinition,
  item: { id: string; brand_id: string | null; base_locale: string },
  given: Given,
  snapshot: Snapshot,
) {
  const locale = item.base_locale;
  if (given.slug == null) return makeSlug(ctx, definition, item, locale, titleOf(definition, valuesIn(snapshot, locale)));
  await takeSlug(ctx, definition, item, { locale, slug: given.slug, takeOver: given.takeOverSlug === true });
  return given.slug;
}

/** Makes an item that is not published. @throws Problem invalid_request, conflict. */
export async function createDraft(
  ctx: Context,
  definition: CollectionDefinition,
  brands: readonly BrandFacts[],
  input: object,
): Promise<Written> {
  if (definition.managed) fail('conflict', 'A policy goes by its versions', { reason: 'managed' });
  const written = await addItem(ctx, definition, { ...placeOf(brands, input as Given), input });
  await tellChanges(ctx);
  return written;
}

/** Makes an item, and publishes or schedules it where that is asked. */
export async function createItem(ctx: Context, collection: ContentCollection, input: object): Promise<Written> {
  const [definition, given] = [definitionOf(collection), input as Given];
  const wantsPublishing = given.status === 'PUBLISHED' || given.publishAt != null;
  if (wantsPublishing && !mayAccess(PUBLISHERS, ctx.caller)) fail('forbidden', 'This caller may write, not publish');
  const { brandId, locale } = placeOf(preparedBrands.of(ctx), given);
  const written = await addItem(ctx, definition, { brandId, locale, input });
  const { id } = written.state;
  if (given.publishAt != null) await scheduleOne(ctx, written.state, given.publishAt);
  else if (given.status === 'PUBLISHED') await publish(ctx, written.state, { pointer: '/input' });
  await tellChanges(ctx);
  return { state: await requireItem(ctx, id), warnings: written.warnings };
}

/** Whether a value that never changes is to be changed. */
function requireMutable({ status, data: before }: ItemState, after: Snapshot, { fields, type }: CollectionDefinition): void {
  if (status !== 'PUBLISHED') return;
  const changed = Object.entries(fields).some(
    ([name, { options }]) => options.immutable && !isDeepStrictEqual(before.shared[name], after.shared[name]),
  );
  if (changed) fail('conflict', `A published ${type} is immutable; correct it by a new one that supersedes it`, { reason: 'immutable' });
}

const UPDATE_ITEM = `update content.content_item set version = version + 1, revision = $2, updated_at = $3, updated_by = $4 where id = $1`;

/** Stores a snapshot as the next revision. */
export async function addRevision(ctx: Context, state: ItemState, snapshot: Snapshot): Promise<void> {
  const number = state.revision + 1;
  await insertRevision(ctx, state.id, number, snapshot);
  await ctx.sql(UPDATE_ITEM, [state.id, number, ctx.now().toISOString(), ctx.caller.userId]);
  await writeUniques(ctx, definitionOf(state.collection), state, snapshot);
}

export interface Update extends Given {
  id: string;
  version: number;
}

interface Change {
  snapshot: Snapshot;
  warnings: readonly string[];
}

/** What a change makes of an item, before it is stored. @throws Problem invalid_request, conflict. */
export async function changed(ctx: Context, state: ItemState, input: object): Promise<Change> {
  const [definition, given] = [definitionOf(state.collection), input as Given];
  const found: Findings = { violations: [], warnings: [] };
  const locale = canonicalLocale(given.locale ?? state.base_locale);
  const snapshot = applied(definition, state.data, input, locale, found);
  requireValid(found.violations);
  snapshot.shared = derived(definition.collection, snapshot.shared);
  if (definition.alwaysPublic) snapshot.audience = 'PUBLIC';
  requireMutable(state, snapshot, definition);
  if (definition.slug) await changeSlug(ctx, state, snapshot, locale, given);
  return { snapshot, warnings: found.warnings };
}

async function changeSlug(ctx: Context, state: ItemState, snapshot: Snapshot, locale: string, given: Given): Promise<void> {
  const definition = definitionOf(state.collection);
  const slug = given.slug ?? snapshot.slugs[locale] ?? snapshot.slugs[state.base_locale]!;
  if (slug === snapshot.slugs[locale]) return;
  if (given.slug == null && state.data.slugs[locale] === undefined)
    snapshot.slugs[locale] = await makeSlug(ctx, definition, state, locale, titleOf(definition, valuesIn(snapshot, locale)));
  else {
    await takeSlug(ctx, definition, state, { locale, slug, takeOver: given.takeOverSlug === true });
    snapshot.slugs[locale] = slug;
  }
  await freeDraftSlugs(ctx, definition, state, locale, snapshot.slugs[locale]!);
}

/** The second of two editors who read the same version gets a conflict. Source: content, rule 6. */
export async function lockVersion(ctx: Context, id: string, version: number, collection?: ContentCollection): Promise<ItemState> {
  const state = await itemState(ctx, id, { lock: true });
  if (!state || (collection && state.collection !== collection)) fail('not_found', 'Not found');
  if (state.version !== version) fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
  return state;
}

/** A new revision. @throws Problem conflict `version_conflict`, `immutable`, `slug_taken`. */
export async function updateItem(ctx: Context, collection: ContentCollection, input: Update): Promise<Written> {
  const state = await lockVersion(ctx, input.id, input.version, collection);
  return storeChange(ctx, state, await changed(ctx, state, input));
}

/** Stores what {@link changed} made of an item. @throws Problem conflict `archived`. */
export async function storeChange(ctx: Context, state: ItemState, { snapshot, warnings }: Change): Promise<Written> {
  if (state.status === 'ARCHIVED') fail('conflict', 'An archived item is not changed; restore it first', { reason: 'archived' });
  await addRevision(ctx, state, snapshot);
  ctx.audit('content_item.updated', state.id, { collection: state.collection, revision: state.revision + 1 });
  if (isWithdrawn(snapshot) && state.status === 'PUBLISHED') await unpublish(ctx, state, null);
  await tellChanges(ctx);
  return { state: await requireItem(ctx, state.id), warnings };
}

/** Consent of a testimonial was taken back. Source: content, rule 14. */
const isWithdrawn = ({ shared }: Snapshot): boolean => (shared.consent as { withdrawnAt?: string } | undefined)?.withdrawnAt !== undefined;
