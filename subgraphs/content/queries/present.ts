/** Stored values -> objects of the schema's classes. */
import type { ClassType } from 'type-graphql';
import { definitionOf } from '../entities/collections.js';
import type { ContentItem } from '../entities/item.js';
import type { Field, Fields } from '../entities/definition.js';
import type { ContentAudience, ContentCollection, ContentStatus } from '../entities/enums.js';
import { blockUnion, groupClass, instance, typesOf } from '../entities/types.js';
import { mediaPath, richTextOf } from '../rules/rich-text.js';
import { titleOf, type Seo, type Values } from '../rules/values.js';
import { User } from '../stubs.js';
import type { View } from './view.js';

/** What resolvers of references find on an object. */
export interface Referring {
  view: View;
  /** Ids by field; those of references alone. */
  refs: Readonly<Record<string, unknown>>;
}

export type Item = ContentItem & Referring & { values: Values };

function shown(field: Field, value: unknown, view: View): unknown {
  if (field.kind === 'richText') return richTextOf(value, view.bodyFormat, view);
  if (field.kind === 'group') return object(groupClass(field.name, field.fields), field.fields, value as Values, view);
  if (field.kind === 'dateTime') return new Date(value as string);
  if (field.kind === 'entity') return { id: value };
  if (field.kind !== 'blocks') return value;
  const kind = String((value as Values).kind);
  return object(blockUnion(field.name, field.blocks).classes.get(kind)!, field.blocks[kind]!, value as Values, view);
}

function fieldValues(fields: Fields, values: Values, view: View): Referring & Values {
  const [out, refs]: [Values, Values] = [{}, {}];
  for (const [name, field] of Object.entries(fields)) {
    const value = values[name];
    if (field.kind === 'ref') refs[name] = value;
    else if (value === undefined || value === null) out[name] = field.options.many ? [] : null;
    else out[name] = field.options.many ? (value as unknown[]).map(one => shown(field, one, view)) : shown(field, value, view);
  }
  return { ...out, view, refs };
}

const object = (cls: ClassType<object>, fields: Fields, values: Values, view: View): object =>
  instance(cls, fieldValues(fields, values, view));

/** An item as a query found it, published or not. */
export interface ItemRow {
  id: string;
  collection: ContentCollection;
  brand_id: string | null;
  slug: string | null;
  status: ContentStatus;
  locale: string;
  locales: string[];
  alternates: { locale: string; slug: string | null }[];
  revision: number;
  version: number;
  audience: ContentAudience;
  tags: string[];
  data: Values & { seo?: Seo };
  published_at: string | null;
  first_published_at: string | null;
  updated_at: string;
  created_at: string;
  /** For editors. */
  unpublished?: boolean;
  created_by?: string | null;
  updated_by?: string | null;
  scheduled?: { releaseId: string; publishAt: string; revision: number; stale: boolean } | null;
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

function seoOf({ data }: ItemRow, view: View): ContentItem['seo'] {
  const { seo } = data;
  if (!seo) return null;
  const { title = null, description = null, canonicalUrl = null, noIndex, imageId } = seo;
  return {
    title,
    description,
    canonicalUrl,
    noIndex: noIndex === true,
    imageUrl: imageId ? `${view.mediaBase}${mediaPath(imageId)}` : null,
  };
}

const userOf = (id: string | null | undefined): User | null => (id ? Object.assign(new User(), { id }) : null);

function editorValues(row: ItemRow, { readers }: View): object {
  if (!readers.editor) return { hasUnpublishedChanges: null, createdBy: null, updatedBy: null, scheduled: null };
  const { scheduled } = row;
  return {
    hasUnpublishedChanges: row.unpublished ?? null,
    createdBy: userOf(row.created_by),
    updatedBy: userOf(row.updated_by),
    scheduled: scheduled ? { ...scheduled, publishAt: new Date(scheduled.publishAt) } : null,
  };
}

/** A row as an object of its collection's class. */
export function itemOf(row: ItemRow, view: View, warnings: readonly string[] = []): Item {
  const definition = definitionOf(row.collection);
  const { seo: _seo, ...values } = row.data;
  return instance(typesOf(row.collection).item, {
    ...fieldValues(definition.fields, values, view),
    values,
    id: row.id,
    collection: row.collection,
    brandId: row.brand_id,
    slug: row.slug,
    status: row.status,
    locale: row.locale,
    requestedLocale: view.requested,
    availableLocales: row.locales,
    revision: row.revision,
    version: row.version,
    title: titleOf(definition, values),
    audience: row.audience,
    tags: row.tags,
    publishedAt: dateOf(row.published_at),
    firstPublishedAt: dateOf(row.first_published_at),
    updatedAt: new Date(row.updated_at),
    createdAt: new Date(row.created_at),
    seo: seoOf(row, view),
    alternates: row.alternates,
    warnings: [...warnings],
    ...editorValues(row, view),
  }) as Item;
}
