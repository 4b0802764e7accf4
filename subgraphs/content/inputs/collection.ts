/** Makes the inputs of a collection from its definition: create, update, filter. Source: content 1.1, 4.3, 4.4. */
import { Field, Float, ID, InputType, Int, type ClassType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import type { Constraint } from '../../../runtime/schema/violations.js';
import { CountryCode, DateTime, JSONObject, LocalDate, Locale, SafeInt, Url } from '../../../runtime/schema/scalars.js';
import { inputName, type CollectionDefinition, type Field as FieldOf, type Fields, type FilterRule } from '../entities/definition.js';
import { ContentAudience, ContentCreateStatus, fieldEnum } from '../entities/enums.js';

/** Rich text as it is given: exactly one of the two. */
@InputType({ description: 'A text with structure, as ProseMirror JSON or as HTML; exactly one of them.' })
export class RichTextInput {
  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  json?: unknown;

  @Rule({ maxLength: 400_000 })
  @Field(() => String, { nullable: true, description: 'Parsed to the closed schema; what is left out is listed in `warnings`.' })
  html?: string | null;
}

@InputType()
export class ContentSeoInput {
  @Rule({ maxLength: 70 })
  @Field(() => String, { nullable: true })
  title?: string | null;

  @Rule({ maxLength: 160 })
  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Url, { nullable: true })
  canonicalUrl?: string | null;

  @Field(() => Boolean, { nullable: true })
  noIndex?: boolean | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  imageId?: string | null;
}

const groups = new Map<string, ClassType<object>>();
const emptyClass = (name: string): ClassType<object> => ({ [name]: class {} })[name]!;

function groupInput(name: string, fields: Fields): ClassType<object> {
  let cls = groups.get(name);
  if (!cls) {
    groups.set(name, (cls = emptyClass(`${name}Input`)));
    InputType(`${name}Input`)(cls);
    addFields(cls, fields);
  }
  return cls;
}

/** One object per block, with exactly one key. */
function blocksInput(name: string, kinds: Readonly<Record<string, Fields>>): ClassType<object> {
  let cls = groups.get(name);
  if (cls) return cls;
  groups.set(name, (cls = emptyClass(`${name}Input`)));
  InputType(`${name}Input`, { description: 'One section: exactly one of the keys.' })(cls);
  const suffix = name.replace(/^[A-Z][a-z]+/, '');
  for (const [kind, fields] of Object.entries(kinds)) {
    const inner = groupInput(`${kind}${suffix}`, fields);
    Field(() => inner, { nullable: true })(cls.prototype as object, kind[0]!.toLowerCase() + kind.slice(1));
  }
  return cls;
}

function inputType(field: FieldOf): unknown {
  const scalars = {
    text: String,
    url: Url,
    float: Float,
    boolean: Boolean,
    date: LocalDate,
    dateTime: DateTime,
    country: CountryCode,
  } as const;
  if (field.kind in scalars) return scalars[field.kind as keyof typeof scalars];
  switch (field.kind) {
    case 'int':
      return field.options.max !== undefined && field.options.max > 2 ** 31 - 1 ? SafeInt : Int;
    case 'richText':
      return RichTextInput;
    case 'enum':
      return fieldEnum(field.name, field.values);
    case 'group':
      return groupInput(field.name, field.fields);
    case 'blocks':
      return blocksInput(field.name, field.blocks);
    default:
      return ID;
  }
}

/** The bounds that stand on the field itself. */
function constraintOf(field: FieldOf): Constraint | null {
  const { many, minItems, maxItems } = field.options;
  const items: Constraint = many ? { ...(minItems !== undefined && { minItems: 0 }), ...(maxItems !== undefined && { maxItems }) } : {};
  const own: Constraint = {};
  if (field.kind === 'text') {
    const { min, max = 500, pattern } = field.options;
    Object.assign(own, { ...(min !== undefined && { minLength: min }), maxLength: max, ...(pattern && { pattern }) });
  }
  if (field.kind === 'int' || field.kind === 'float') {
    const { min, max } = field.options;
    Object.assign(own, { ...(min !== undefined && { min }), ...(max !== undefined && { max }) });
  }
  if (field.kind === 'ref' || field.kind === 'entity' || field.kind === 'uuid') own.pattern = UUID;
  const rule = { ...items, ...own };
  return Object.keys(rule).length ? rule : null;
}

function addFields(cls: ClassType<object>, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) if (!field.options.derived) addField(cls, inputName(name, field), field);
}

function addField(cls: ClassType<object>, name: string, field: FieldOf): void {
  const { many, description } = field.options;
  const [type, rule] = [inputType(field), constraintOf(field)];
  if (rule) Rule(rule)(cls.prototype as object, name);
  Field(() => (many ? [type] : type) as never, { nullable: true, description })(cls.prototype as object, name);
}

function addCommon(cls: ClassType<object>, { slug }: CollectionDefinition, isNew: boolean): void {
  const at = cls.prototype as object;
  const add = (
    name: string,
    type: () => unknown,
    rule?: Constraint,
    options: { nullable?: boolean; description?: string } = { nullable: true },
  ) => {
    if (rule) Rule(rule)(at, name);
    Field(type as never, options)(at, name);
  };
  if (isNew) {
    add('brandId', () => ID, { pattern: UUID }, { nullable: true, description: 'Absent: shared by all brands.' });
    add('status', () => ContentCreateStatus, undefined, { nullable: true, description: 'PUBLISHED publishes at once; default DRAFT.' });
    add('publishAt', () => DateTime, undefined, { nullable: true, description: 'Publishes what is given here at that time.' });
  } else {
    add('id', () => ID, { pattern: UUID }, {});
    add('version', () => Int, { min: 1 }, { description: 'As it was read.' });
  }
  if (slug) {
    add('slug', () => String, { pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 96 });
    add('takeOverSlug', () => Boolean, undefined, { nullable: true, description: 'Takes a slug that another item had before.' });
  }
  add('locale', () => Locale, undefined, { nullable: true, description: 'Locale of the localised fields; default that of the brand.' });
  add('audience', () => ContentAudience);
  add('tags', () => [String], { maxItems: 20, maxLength: 64 });
  add('seo', () => ContentSeoInput);
}

export interface CollectionInputs {
  create: ClassType<object>;
  update: ClassType<object>;
  filter: ClassType<object>;
}

function inputOf(definition: CollectionDefinition, isNew: boolean): ClassType<object> {
  const name = `${definition.type}${isNew ? 'Create' : 'Update'}Input`;
  const cls = emptyClass(name);
  InputType(name)(cls);
  addCommon(cls, definition, isNew);
  addFields(cls, definition.fields);
  return cls;
}

const FILTER_TYPES = { text: String, id: ID, date: LocalDate, int: Int, boolean: Boolean } as const;

/** The filters of a collection: what is declared, and every single field that says so. */
export function filtersOf({ fields, filters = {} }: CollectionDefinition): Readonly<Record<string, FilterRule>> {
  const own = Object.entries(fields)
    .filter(
      ([name, { options, kind }]) =>
        options.filter && !options.many && ['text', 'enum', 'entity', 'ref'].includes(kind) && !(name in filters),
    )
    .map(([name, field]): [string, FilterRule] => [
      inputName(name, field),
      { field: name, op: 'eq', as: field.kind === 'enum' ? field : field.kind === 'text' ? 'text' : 'id' },
    ]);
  return { ...Object.fromEntries(own), ...filters };
}

function filterInput(definition: CollectionDefinition): ClassType<object> {
  const cls = emptyClass(`${definition.type}Filter`);
  InputType(`${definition.type}Filter`)(cls);
  const at = cls.prototype as object;
  const add = (name: string, type: unknown, many = false, rule?: Constraint) => {
    if (rule) Rule(rule)(at, name);
    Field(() => (many ? [type] : type) as never, { nullable: true })(at, name);
  };
  for (const [name, { op, as = 'text' }] of Object.entries(filtersOf(definition))) {
    const type = typeof as === 'string' ? FILTER_TYPES[as] : fieldEnum(as.name, as.values);
    const many = op === 'eq' && as !== 'boolean';
    add(
      name,
      type,
      many,
      as === 'text'
        ? { maxLength: 200, ...(many && { maxItems: 20 }) }
        : as === 'id'
          ? { pattern: UUID, ...(many && { maxItems: 20 }) }
          : undefined,
    );
  }
  add('tag', String, true, { maxLength: 64, maxItems: 20 });
  add('ids', ID, true, { pattern: UUID, maxItems: 100 });
  if (definition.slug) add('slugs', String, true, { maxLength: 96, maxItems: 100 });
  add('audience', ContentAudience, true);
  add('updatedSince', DateTime);
  return cls;
}

const made = new Map<string, CollectionInputs>();

/** The inputs of a collection. */
export function inputsOf(definition: CollectionDefinition): CollectionInputs {
  let inputs = made.get(definition.type);
  if (!inputs) {
    inputs = { create: inputOf(definition, true), update: inputOf(definition, false), filter: filterInput(definition) };
    made.set(definition.type, inputs);
  }
  return inputs;
}
