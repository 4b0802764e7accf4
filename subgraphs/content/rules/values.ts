/** From what an author gives to what is stored, by the definition of the collection; and what stands in the way of publishing it. */
import type { Violation } from '../../../runtime/request/errors.js';
import { inputName, isLocalised, type CollectionDefinition, type Field, type Fields } from '../entities/definition.js';
import type { ContentAudience } from '../entities/enums.js';
import { richTextFromHtml } from './html.js';
import { headingsOf, plainText, referencesIn, richTextViolations, type Node } from './rich-text.js';

export type Values = Record<string, unknown>;

export interface Seo {
  title?: string | null;
  description?: string | null;
  canonicalUrl?: string | null;
  noIndex?: boolean | null;
  imageId?: string | null;
}

/** All of an item in all its locales, as one revision holds it. */
export interface Snapshot {
  audience: ContentAudience;
  tags: string[];
  slugs: Record<string, string>;
  seo: Record<string, Seo>;
  shared: Values;
  locales: Record<string, Values>;
}

export const SCHEMA_VERSION = 1;

export const emptySnapshot = (): Snapshot => ({ audience: 'PUBLIC', tags: [], slugs: {}, seo: {}, shared: {}, locales: {} });

export interface Findings {
  violations: Violation[];
  warnings: string[];
}

const upTo = (name: string): string => name[0]!.toLowerCase() + name.slice(1);

function richText(value: { json?: unknown; html?: string | null }, pointer: string, found: Findings): unknown {
  if ((value.json == null) === (value.html == null)) {
    found.violations.push({ pointer, message: 'must have either json or html' });
    return null;
  }
  if (value.html == null) {
    found.violations.push(...richTextViolations(value.json, `${pointer}/json`));
    return value.json;
  }
  const { json, warnings } = richTextFromHtml(value.html);
  found.warnings.push(...warnings);
  found.violations.push(...richTextViolations(json, `${pointer}/html`));
  return json;
}

function block(value: Values, blocks: Readonly<Record<string, Fields>>, pointer: string, found: Findings): Values | null {
  const given = Object.keys(blocks).filter(kind => value[upTo(kind)] != null);
  if (given.length !== 1) {
    found.violations.push({ pointer, message: 'must have exactly one kind' });
    return null;
  }
  const [kind] = given as [string];
  return { kind, ...taken({}, value[upTo(kind)] as Values, blocks[kind]!, `${pointer}/${upTo(kind)}`, found) };
}

function one(value: unknown, field: Field, pointer: string, found: Findings): unknown {
  switch (field.kind) {
    case 'text':
      return field.options.lower ? String(value).trim().toLowerCase() : String(value).trim();
    case 'url':
      return urlOf(String(value), pointer, found);
    case 'dateTime':
      return new Date(value as Date).toISOString();
    case 'richText':
      return richText(value as { json?: unknown }, pointer, found);
    case 'group':
      return taken({}, value as Values, field.fields, pointer, found);
    case 'blocks':
      return block(value as Values, field.blocks, pointer, found);
    case 'ref':
    case 'entity':
    case 'uuid':
      return String(value).toLowerCase();
    default:
      return value;
  }
}

function urlOf(value: string, pointer: string, found: Findings): string {
  if (!/^https?:\/\//i.test(value)) found.violations.push({ pointer, message: 'must be an http or https address' });
  return URL.parse(value)?.href ?? value; // one spelling, however it came
}

function valueOf(value: unknown, field: Field, pointer: string, found: Findings): unknown {
  if (!field.options.many) return one(value, field, pointer, found);
  const list = (value as unknown[]).map((item, index) => one(item, field, `${pointer}/${index}`, found));
  return field.kind === 'ref' || field.kind === 'entity' ? [...new Set(list)] : list;
}

/** `before` with what the input names: null clears a field, absent leaves it. */
export function taken(before: Values, input: Values, fields: Fields, pointer: string, found: Findings): Values {
  const after = { ...before };
  for (const [name, field] of Object.entries(fields)) {
    const key = inputName(name, field);
    const value = input[key];
    if (value === undefined || field.options.derived) continue;
    if (value === null) delete after[name];
    else after[name] = valueOf(value, field, `${pointer}/${key}`, found);
  }
  return after;
}

const only = (fields: Fields, localized: boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, { options }]) => (options.localized ?? false) === localized));

interface Given extends Values {
  audience?: ContentAudience | null;
  tags?: string[] | null;
  seo?: (Seo & { canonicalUrl?: URL | string | null }) | null;
}

/** A snapshot with what an author gave in one locale. */
export function applied(definition: CollectionDefinition, before: Snapshot, given: object, locale: string, found: Findings): Snapshot {
  const input = given as Given;
  const after = structuredClone(before);
  after.shared = taken(after.shared, input, only(definition.fields, false), '/input', found);
  after.locales[locale] = taken(after.locales[locale] ?? {}, input, only(definition.fields, true), '/input', found);
  if (input.audience != null) after.audience = input.audience;
  if (input.tags != null) after.tags = [...new Set(input.tags.map(tag => tag.trim().toLowerCase()).filter(Boolean))];
  if (input.seo === null) delete after.seo[locale];
  else if (input.seo)
    after.seo[locale] = { ...input.seo, canonicalUrl: input.seo.canonicalUrl == null ? null : String(input.seo.canonicalUrl) };
  return after;
}

/** The values of an item in one locale. */
export const valuesIn = ({ shared, locales }: Snapshot, locale: string): Values => ({ ...shared, ...locales[locale] });

/** Locales in which something was written; of a collection that is the same everywhere, the one in which it began. */
export const localesOf = (definition: CollectionDefinition, { locales }: Snapshot, baseLocale: string): string[] =>
  isLocalised(definition) ? Object.keys(locales) : [baseLocale];

const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0) || isEmptyText(value);

const isEmptyText = (value: unknown): boolean =>
  typeof value === 'object' &&
  (value as Node).type === 'doc' &&
  plainText(value as Node).trim() === '' &&
  !/"type":"(image|embed|table)"/.test(JSON.stringify(value));

function lacksIn(values: Values, fields: Fields, pointer: string): Violation[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const at = `${pointer}/${inputName(name, field)}`;
    const value = values[name];
    if (isMissing(value)) return field.options.required && !field.options.derived ? [{ pointer: at, message: 'required' }] : [];
    if (field.kind === 'group') {
      const groups = field.options.many ? (value as Values[]) : [value as Values];
      return groups.flatMap((group, index) => lacksIn(group, field.fields, field.options.many ? `${at}/${index}` : at));
    }
    if (field.kind !== 'blocks') return [];
    return (value as Values[]).flatMap((part, index) =>
      lacksIn(part, field.blocks[String(part.kind)]!, `${at}/${index}/${upTo(String(part.kind))}`),
    );
  });
}

/** What is missing to publish a locale. Pointers begin with `pointer`. */
export const lacks = (definition: CollectionDefinition, values: Values, pointer: string): Violation[] =>
  lacksIn(values, definition.fields, pointer);

/** Every value of a field somewhere in an item, with its own field. */
function* walk(values: Values, fields: Fields, path = ''): Generator<{ path: string; field: Field; value: unknown }> {
  for (const [name, field] of Object.entries(fields)) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    const at = path === '' ? name : `${path}.${name}`;
    for (const item of field.options.many ? (value as unknown[]) : [value]) {
      yield { path: at, field, value: item };
      if (field.kind === 'group') yield* walk(item as Values, field.fields, at);
      if (field.kind === 'blocks') yield* walk(item as Values, field.blocks[String((item as Values).kind)] ?? {}, at);
    }
  }
}

/** Ids of the items that these values point at. */
export function targetsOf(definition: CollectionDefinition, values: Values, seo?: Seo): string[] {
  const found = [...walk(values, definition.fields)].flatMap(({ field, value }) => {
    if (field.kind === 'ref' && !field.options.derived) return [String(value)];
    return field.kind === 'richText' ? referencesIn(value as Node) : [];
  });
  return [...new Set([...found, ...(seo?.imageId ? [seo.imageId] : [])].map(id => id.toLowerCase()))];
}

export interface Key {
  name: string;
  value: string | null;
  number: number | null;
}

/** What lists are filtered by. */
export function keysOf(definition: CollectionDefinition, values: Values): Key[] {
  const named = new Set(Object.values(definition.filters ?? {}).map(({ field }) => field));
  const keys = [...walk(values, definition.fields)]
    .filter(({ path, field }) => (field.options.filter || named.has(path)) && !['group', 'blocks', 'richText'].includes(field.kind))
    .map(({ path, field, value }): Key => {
      const isNumber = field.kind === 'int' || field.kind === 'float';
      return { name: path, value: isNumber ? null : String(value), number: isNumber ? Number(value) : null };
    });
  return keys.filter(
    (key, index) => keys.findIndex(other => other.name === key.name && other.value === key.value && other.number === key.number) === index,
  );
}

/** Values that no second item of a brand may have: reason of the 409 -> value. */
export function uniquesOf(definition: CollectionDefinition, values: Values): Record<string, string> {
  const single = Object.entries(definition.fields)
    .filter(([name, { options }]) => options.unique !== undefined && values[name] != null)
    .map(([name, { options }]) => [options.unique!, String(values[name]).toLowerCase()]);
  const composite = Object.entries(definition.uniques ?? {}).flatMap(([reason, paths]) => {
    const parts = paths.map(path => at(values, path));
    return parts.some(part => part == null || part === '') ? [] : [[reason, parts.map(part => String(part).toLowerCase()).join('\u0001')]];
  });
  return Object.fromEntries([...single, ...composite]) as Record<string, string>;
}

/** Value at `lab.name`. */
export const at = (values: Values, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Values | undefined)?.[name], values);

export interface SearchTexts {
  title: string;
  names: string[];
  summary: string;
  headings: string[];
  body: string[];
}

/** Texts of an item for search, by weight. */
export function searchTexts(definition: CollectionDefinition, values: Values): SearchTexts {
  const texts: SearchTexts = { title: titleOf(definition, values), names: [], summary: '', headings: [], body: [] };
  for (const { path, field, value } of walk(values, definition.fields)) {
    const weight = field.options.search;
    if (weight === undefined) continue;
    if (field.kind === 'richText') {
      texts.headings.push(...headingsOf(value as Node));
      texts.body.push(plainText(value as Node));
    } else if (path === definition.summary) texts.summary = String(value);
    else if (weight === 'A' && path !== definition.title) texts.names.push(String(value));
    else if (weight === 'B') texts.summary ||= String(value);
    else if (weight === 'C') texts.headings.push(String(value));
    else if (weight === 'D') texts.body.push(String(value));
  }
  return texts;
}

export const titleOf = ({ title, type }: CollectionDefinition, values: Values): string => String(values[title] ?? type);
