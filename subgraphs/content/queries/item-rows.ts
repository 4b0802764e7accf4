/** Items as rows: one for each item and locale, by the names of the wire. Source: content 4.2. */
import { toSnake } from '../../../runtime/schema/wire-names.js';
import { inputName, type CollectionDefinition, type Field, type Fields } from '../entities/definition.js';
import { localesOf, type Snapshot, type Values } from '../rules/values.js';

/** Kinds of fields that are texts on the wire. */
const TEXTS: ReadonlySet<Field['kind']> = new Set(['text', 'url', 'enum', 'date', 'dateTime', 'country', 'uuid', 'ref', 'entity']);
const COMMON_TEXTS = ['id', 'brand_id', 'locale', 'slug', 'audience'];

const given = (fields: Fields): [string, Field][] => Object.entries(fields).filter(([, { options }]) => !options.derived);
const wireName = ([name, field]: [string, Field]): string => toSnake(inputName(name, field));

/** Columns of CSV, and those whose cells are texts as they stand. */
export function columnsOf({ slug, fields }: CollectionDefinition): { columns: readonly string[]; isText: (column: string) => boolean } {
  const own = given(fields);
  const common = COMMON_TEXTS.filter(name => name !== 'slug' || slug);
  const texts = new Set([...common, ...own.filter(([, { kind, options }]) => TEXTS.has(kind) && !options.many).map(wireName)]);
  return { columns: [...common, 'tags', 'seo', ...own.map(wireName)], isText: column => texts.has(column) };
}

const upTo = (name: string): string => name[0]!.toLowerCase() + name.slice(1);

function oneToWire(value: unknown, field: Field): unknown {
  switch (field.kind) {
    case 'enum':
      return String(value).toLowerCase();
    case 'richText':
      return { json: value };
    case 'group':
      return valuesToWire(value as Values, field.fields);
    case 'blocks': {
      const { kind, ...values } = value as Values & { kind: string };
      return { [toSnake(upTo(kind))]: valuesToWire(values, field.blocks[kind]!) };
    }
    default:
      return value;
  }
}

function valuesToWire(values: Values, fields: Fields): Record<string, unknown> {
  const present = given(fields).filter(([name]) => values[name] !== undefined && values[name] !== null);
  return Object.fromEntries(
    present.map(([name, field]) => {
      const value = values[name];
      const wire = field.options.many ? (value as unknown[]).map(one => oneToWire(one, field)) : oneToWire(value, field);
      return [wireName([name, field]), wire];
    }),
  );
}

interface Named {
  id: string;
  brand_id: string | null;
  base_locale: string;
  data: Snapshot;
}

/** Rows of an item, the locale in which it began first. */
export function rowsOfItem(definition: CollectionDefinition, { id, brand_id, base_locale, data }: Named): Record<string, unknown>[] {
  const locales = localesOf(definition, data, base_locale).toSorted(
    (a, b) => Number(b === base_locale) - Number(a === base_locale) || (a < b ? -1 : 1),
  );
  return locales.map(locale => {
    const seo = data.seo[locale];
    return {
      id,
      ...(brand_id !== null && { brand_id }),
      locale,
      ...(data.slugs[locale] !== undefined && { slug: data.slugs[locale] }),
      audience: data.audience.toLowerCase(),
      tags: data.tags,
      ...(seo && { seo: Object.fromEntries(Object.entries(seo).map(([name, value]) => [toSnake(name), value])) }),
      ...valuesToWire({ ...data.shared, ...data.locales[locale] }, definition.fields),
    };
  });
}
