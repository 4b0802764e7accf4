/** Makes the GraphQL types of a collection from its definition, by calling the decorators as functions. Source: architecture 3, the exception. */
import { createUnionType, Directive, Field, Float, ID, Int, ObjectType, type ClassType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf, type Connection } from '../../../runtime/request/paging.js';
import { CountryCode, DateTime, LocalDate, SafeInt, Url } from '../../../runtime/schema/scalars.js';
import { Product, User } from '../stubs.js';
import { COLLECTIONS } from './collections.js';
import { ContentItem, RichText } from './item.js';
import type { CollectionDefinition, EntityName, Field as FieldOf, Fields } from './definition.js';
import { fieldEnum, type ContentCollection } from './enums.js';

export type Values = Record<string, unknown>;

/** A class with these fields, and those of its fields that point at other items, which resolvers load. */
export interface Shape {
  cls: ClassType<object>;
  fields: Fields;
}

export interface CollectionTypes {
  definition: CollectionDefinition;
  item: ClassType<ContentItem>;
  connection: ClassType<Connection<ContentItem>>;
}

const ENTITIES: Readonly<Record<EntityName, ClassType<{ id: string }>>> = { Product, User };
/** All classes that have fields of a definition: items, groups and blocks. */
export const SHAPES: Shape[] = [];
const groups = new Map<string, ClassType<object>>();
const blocks = new Map<string, { union: object; classes: Map<string, ClassType<object>> }>();

const emptyClass = (name: string): ClassType<object> => ({ [name]: class {} })[name]!;

export const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

function makeFields(cls: ClassType<object>, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) makeField(cls, name, field);
  SHAPES.push({ cls, fields });
}

/** The class of a group, made at its first use. */
export function groupClass(name: string, fields: Fields): ClassType<object> {
  let cls = groups.get(name);
  if (!cls) {
    groups.set(name, (cls = emptyClass(name)));
    ObjectType(name)(cls);
    makeFields(cls, fields);
  }
  return cls;
}

/** The union of a list of blocks, and the class of each kind. */
export function blockUnion(name: string, kinds: Readonly<Record<string, Fields>>) {
  let found = blocks.get(name);
  if (!found) {
    const suffix = name.replace(/^[A-Z][a-z]+/, '');
    const classes = new Map(Object.entries(kinds).map(([kind, fields]) => [kind, groupClass(`${kind}${suffix}`, fields)]));
    const union = createUnionType({
      name,
      types: () => [...classes.values()] as never,
      resolveType: (value: object) => value.constructor.name,
    });
    blocks.set(name, (found = { union, classes }));
  }
  return found;
}

function outputType(field: FieldOf): unknown {
  switch (field.kind) {
    case 'text':
      return String;
    case 'url':
      return Url;
    case 'int':
      return field.options.max !== undefined && field.options.max > 2 ** 31 - 1 ? SafeInt : Int;
    case 'float':
      return Float;
    case 'boolean':
      return Boolean;
    case 'date':
      return LocalDate;
    case 'dateTime':
      return DateTime;
    case 'country':
      return CountryCode;
    case 'uuid':
      return ID;
    case 'richText':
      return RichText;
    case 'enum':
      return fieldEnum(field.name, field.values);
    case 'group':
      return groupClass(field.name, field.fields);
    case 'blocks':
      return blockUnion(field.name, field.blocks).union;
    case 'entity':
      return ENTITIES[field.type];
    case 'ref':
      return typesOf(field.to).item;
  }
}

/** References are fields of resolvers, made with them. */
function makeField(cls: ClassType<object>, name: string, field: FieldOf): void {
  if (field.kind === 'ref' || (name === 'title' && cls.prototype instanceof ContentItem)) return; // every item has a title
  const { many, description } = field.options;
  const type = outputType(field);
  Field(() => (many ? [type] : type) as never, { nullable: many !== true, description })(cls.prototype as object, name);
}

const built = new Map<ContentCollection, CollectionTypes>();

/** Permissions of staff who see an item: editors read what they have written. */
const EDITORS = ['read', 'write', 'publish'].map(verb => `admin:content:${verb}`).join('|');

/** Who may read a field of an item at all; what of it, its audience says. */
const readersOf = ({ scope }: CollectionDefinition) =>
  scope === undefined ? { service: '*', user: '*', staff: '*' } : { service: 'admin:content', user: scope, staff: EDITORS };

function makeTypes(definition: CollectionDefinition): CollectionTypes {
  const item = { [definition.type]: class extends ContentItem {} }[definition.type] as unknown as ClassType<ContentItem>;
  ObjectType(definition.type, { implements: ContentItem, description: definition.description })(item);
  Directive('@key(fields: "id")')(item);
  Access(readersOf(definition))(item);
  const types = { definition, item, connection: connectionOf(item, definition.type) };
  built.set(definition.collection, types);
  return types;
}

for (const definition of COLLECTIONS) makeTypes(definition);
for (const { definition, item } of built.values()) makeFields(item, definition.fields);

/** The types of a collection. */
export const typesOf = (collection: ContentCollection): CollectionTypes => built.get(collection)!;

/** An object of a class, with the values of its properties. */
export const instance = <T extends object>(cls: ClassType<T>, values: object): T =>
  Object.assign(Object.create(cls.prototype as object) as T, values);

export const ITEM_CLASSES: readonly ClassType<ContentItem>[] = [...built.values()].map(({ item }) => item);
