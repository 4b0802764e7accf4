/**
 * What a collection is. Types, inputs, validation, versions, locales, publishing, search, cards and REST follow from this one value.
 * Source: content 1.1.
 */
import type { ContentCollection } from './enums.js';

/** Weight of a text in search: A titles, aliases and codes, B summaries, C headings, D bodies. */
export type SearchWeight = 'A' | 'B' | 'C' | 'D';

interface Options {
  /** Needed to publish; drafts may lack it. */
  required?: boolean;
  /** One value per locale. */
  localized?: boolean;
  /** Several values; with bounds of their number. */
  many?: boolean;
  minItems?: number;
  maxItems?: number;
  search?: SearchWeight;
  /** Lists may be filtered by it: a row of `content_key`. */
  filter?: boolean;
  /** The value is unique among the items of a brand; the word is the reason of the 409. */
  unique?: string;
  /** Computed by a rule (`rules/derived.ts`), never given by an author. */
  derived?: boolean;
  /** Once published it never changes. Source: content, rule 11. */
  immutable?: boolean;
  /** Names a person: left out of safe views and events. */
  personal?: boolean;
  description?: string;
}

export interface TextOptions extends Options {
  max?: number;
  min?: number;
  pattern?: string;
  /** Stored in lower case. */
  lower?: boolean;
}
export interface NumberOptions extends Options {
  min?: number;
  max?: number;
}

export type Field = { readonly options: Options } & (
  | { readonly kind: 'text' | 'url'; readonly options: TextOptions }
  | { readonly kind: 'int' | 'float'; readonly options: NumberOptions }
  | { readonly kind: 'boolean' | 'date' | 'dateTime' | 'richText' | 'country' | 'uuid' }
  | { readonly kind: 'enum'; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: 'ref'; readonly to: ContentCollection; readonly connection: boolean }
  | { readonly kind: 'entity'; readonly type: EntityName }
  | { readonly kind: 'group'; readonly name: string; readonly fields: Fields }
  | { readonly kind: 'blocks'; readonly name: string; readonly blocks: Readonly<Record<string, Fields>> }
);
export type FieldKind = Field['kind'];
export type Fields = Readonly<Record<string, Field>>;
/** Types of other services that items point at by key. */
export type EntityName = 'Product' | 'User';

const of =
  <Kind extends 'boolean' | 'date' | 'dateTime' | 'richText' | 'country' | 'uuid'>(kind: Kind) =>
  (options: Options = {}): Field => ({ kind, options });

/** Builders of fields. */
export const f = {
  text: (options: TextOptions = {}): Field => ({ kind: 'text', options: { max: 500, ...options } }),
  url: (options: TextOptions = {}): Field => ({ kind: 'url', options: { max: 2048, ...options } }),
  int: (options: NumberOptions = {}): Field => ({ kind: 'int', options }),
  float: (options: NumberOptions = {}): Field => ({ kind: 'float', options }),
  boolean: of('boolean'),
  date: of('date'),
  dateTime: of('dateTime'),
  richText: of('richText'),
  country: of('country'),
  uuid: of('uuid'),
  enum: (name: string, values: readonly string[], options: Options = {}): Field => ({ kind: 'enum', name, values, options }),
  /** Items of another collection. `connection`: asked page by page. */
  ref: (to: ContentCollection, { connection = false, ...options }: Options & { connection?: boolean } = {}): Field => ({
    kind: 'ref',
    to,
    connection,
    options: { maxItems: 100, ...options },
  }),
  entity: (type: EntityName, options: Options = {}): Field => ({ kind: 'entity', type, options: { maxItems: 100, ...options } }),
  group: (name: string, fields: Fields, options: Options = {}): Field => ({ kind: 'group', name, fields, options }),
  blocks: (name: string, blocks: Readonly<Record<string, Fields>>, options: Options = {}): Field => ({
    kind: 'blocks',
    name,
    blocks,
    options: { many: true, ...options },
  }),
};

export interface CollectionDefinition {
  collection: ContentCollection;
  /** GraphQL type, for example `LearnArticle`. */
  type: string;
  /** Root fields: one item, and their list. */
  one: string;
  list: string;
  fields: Fields;
  /** The field that is shown as the title, and from which a slug is made. */
  title: string;
  /** The field whose text describes an item on a card and in search. */
  summary?: string;
  /** The field with a card's picture. */
  image?: string;
  /** Texts that name an item as well as its title does: aliases and codes, which an exact search finds first. */
  names?: readonly string[];
  /** A field whose value may be written as part of a text search, for filters by goal and peptide. */
  facets?: Readonly<Record<'goal' | 'peptide' | 'evidence_level', string | undefined>>;
  /** Whether items have slugs, and a root field that reads by one: its name. */
  slug?: boolean;
  bySlug?: string;
  /** Single items are read by slug alone. */
  oneBySlug?: boolean;
  /** Scope that a user needs to read it at all. Source: content 4. */
  scope?: string;
  /** Always read by anybody. */
  alwaysPublic?: boolean;
  /** Several fields that are unique together, by the reason of the 409. */
  uniques?: Readonly<Record<string, readonly string[]>>;
  sorts?: readonly ('POSITION' | 'TESTED_ON')[];
  /** Filters of lists: argument -> how it looks at keys. Those of single values follow from `filter: true`. */
  filters?: Readonly<Record<string, FilterRule>>;
  /** Made and changed by operations of its own. */
  managed?: boolean;
  /** Part of search, sitemap and cards. */
  searchable?: boolean;
  description: string;
}

/** How an argument of a list looks at the keys of an item. */
export interface FilterRule {
  /** Path of the field: `lab.name`. */
  field: string;
  /** `eq`: equals one of several; `from`, `to`: a range; `text`: contained in the title, folded. */
  op: 'eq' | 'from' | 'to' | 'text';
  /** GraphQL type of the argument. */
  as?: 'text' | 'id' | 'date' | 'int' | 'boolean' | { name: string; values: readonly string[] };
}

/** The field at a path: `components.peptide`. */
export function fieldAt(fields: Fields, path: string): Field | undefined {
  const [name, ...rest] = path.split('.') as [string, ...string[]];
  const field = fields[name];
  return rest.length > 0 && field?.kind === 'group' ? fieldAt(field.fields, rest.join('.')) : field;
}

export const defineCollection = (definition: CollectionDefinition): CollectionDefinition => definition;

/** `learn-articles` of `LEARN_ARTICLES`: in paths and events. */
export const slugOfCollection = (collection: ContentCollection): string => collection.toLowerCase().replaceAll('_', '-');

/** Whether any of its fields has one value per locale; else an item is the same in all of them. */
export const isLocalised = ({ fields }: CollectionDefinition): boolean => Object.values(fields).some(one => one.options.localized);

/** The input's key of a field: of references the ids. */
export function inputName(name: string, field: Field): string {
  if (field.kind !== 'ref' && field.kind !== 'entity') return name;
  return field.options.many ? `${name.replace(/ies$/, 'y').replace(/s$/, '')}Ids` : `${name}Id`;
}
