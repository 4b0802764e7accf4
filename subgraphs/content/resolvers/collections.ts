/** Operations of all collections, made by one factory; and fields that lead from items to items. Source: content 1.1, 4.1, 4.2. */
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root, type ClassType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { toConnection, decodeCursor, type Connection, PageArgs } from '../../../runtime/request/paging.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { createItem, updateItem, type Update, type Written } from '../commands/item.js';
import { COLLECTIONS } from '../entities/collections.js';
import { ContentCard, ContentItem } from '../entities/item.js';
import type { CollectionDefinition, Field } from '../entities/definition.js';
import { SHAPES, typesOf } from '../entities/types.js';
import { inputsOf } from '../inputs/collection.js';
import { ListArgs, ReadArgs } from '../inputs/reading.js';
import { preparedBrands } from '../ports/brands.js';
import { cardOf } from '../queries/cards.js';
import { loadItem, loadItems } from '../queries/delivery.js';
import { draftOf } from '../queries/editors.js';
import { itemsPage, type Filter } from '../queries/lists.js';
import type { Item, Referring } from '../queries/present.js';
import { supersedingOf } from '../queries/coas.js';
import { readSingle } from '../queries/single.js';
import { viewFor } from '../queries/view.js';

/** Who may ask: an audience decides about each item. Source: content 4, R. */
const readersOf = ({ scope }: CollectionDefinition) =>
  scope === undefined ? { service: '*', user: '*', staff: '*' } : { service: 'admin:content', user: scope, staff: 'admin:content:read' };
export const WRITE = { service: 'admin:content', staff: 'admin:content:write' };

@Resolver(() => ContentItem)
export class ContentItemResolver {
  @FieldResolver(() => ContentCard, { description: 'What is shown where the item is linked to.' })
  card(@Root() item: Item, @Ctx() ctx: Context): Promise<ContentCard> {
    return cardOf(ctx, item);
  }
}

const written = async (ctx: Context, { state, warnings }: Written): Promise<Item> =>
  draftOf(state, viewFor(ctx, preparedBrands.of(ctx), { locale: state.base_locale }), warnings);

function resolverOf(definition: CollectionDefinition): ClassType<object> {
  const { collection, type, one, list, bySlug, description, managed } = definition;
  const { item, connection } = typesOf(collection);
  const { create, update, filter } = inputsOf(definition);
  const readers = readersOf(definition);

  class Reads {
    @Access(readers)
    @Query(() => connection, { name: list, description: `${type}: what is published of it; for editors, by status, drafts too.` })
    list(
      @Arg('filter', () => filter, { nullable: true }) asked: Filter | null,
      @Args(() => ListArgs) args: ListArgs,
      @Ctx() ctx: Context,
    ): Promise<Connection<Item>> {
      return itemsPage(ctx, definition, asked ?? {}, args);
    }
  }
  Resolver(() => item)(Reads);
  if (!managed) addSingle(Reads, definition, item, readers, { name: one, by: definition.oneBySlug ? 'slug' : 'id', description });
  if (bySlug) addSingle(Reads, definition, item, readers, { name: bySlug, by: 'slug', description });
  if (!managed) addWrites(Reads, definition, item, create, update);
  return Reads;
}

interface Single {
  name: string;
  by: 'id' | 'slug';
  description: string;
}

/** A method on a class, whose decorators follow. */
function method(cls: ClassType<object>, name: string, parameters: number, run: (...args: never[]) => unknown) {
  const at = cls.prototype as object;
  const descriptor = { value: run, configurable: true, writable: true, enumerable: false };
  Object.defineProperty(at, name, descriptor);
  Reflect.defineMetadata(
    'design:paramtypes',
    Array.from({ length: parameters }, () => Object),
    at,
    name,
  );
  return { at, descriptor };
}

function addSingle(
  cls: ClassType<object>,
  definition: CollectionDefinition,
  item: ClassType<ContentItem>,
  readers: object,
  { name, by, description }: Single,
): void {
  const { at, descriptor } = method(cls, name, 3, async (key: string, args: ReadArgs, ctx: Context) =>
    readSingle(ctx, definition, by, key, args),
  );
  Access(readers)(at, name, descriptor);
  Query(() => item, { nullable: true, description })(at, name, descriptor);
  if (by === 'slug') Rule({ maxLength: 96 })(at, name, 0);
  Arg(by, () => (by === 'slug' ? String : ID))(at, name, 0);
  Args(() => ReadArgs)(at, name, 1);
  Ctx()(at, name, 2);
}

function addWrites(
  cls: ClassType<object>,
  { collection, type }: CollectionDefinition,
  item: ClassType<ContentItem>,
  create: ClassType<object>,
  update: ClassType<object>,
): void {
  const add = (name: string, input: ClassType<object>, run: (input: object, ctx: Context) => Promise<Written>, description: string) => {
    const { at, descriptor } = method(cls, name, 2, async (given: object, ctx: Context) => written(ctx, await run(given, ctx)));
    Access(WRITE)(at, name, descriptor);
    Prepare(preparedBrands)(at, name, descriptor);
    Mutation(() => item, { description })(at, name, descriptor);
    Arg('input', () => input)(at, name, 0);
    Ctx()(at, name, 1);
  };
  if (collection !== 'MEDIA')
    add(
      `create${type}`,
      create,
      (input, ctx) => createItem(ctx, collection, input),
      `Makes a ${type}, as a draft unless it says otherwise.`,
    );
  add(
    `update${type}`,
    update,
    (input, ctx) => updateItem(ctx, collection, input as Update),
    `Changes a ${type}; what is delivered stays until it is published.`,
  );
}

/** Fields that lead to other items. Targets that the reader may not see are left out; never an id of one. */
function referenceResolver(cls: ClassType<object>, fields: Readonly<Record<string, Field>>): ClassType<object> | null {
  const refs = Object.entries(fields).filter(([, field]) => field.kind === 'ref');
  if (refs.length === 0) return null;
  const resolver = class {} as ClassType<object>;
  for (const [name, field] of refs) if (field.kind === 'ref') addReference(resolver, name, field);
  Resolver(() => cls)(resolver);
  return resolver;
}

type Ref = Extract<Field, { kind: 'ref' }>;

function addReference(resolver: ClassType<object>, name: string, field: Ref): void {
  const { item, connection } = typesOf(field.to);
  if (field.connection) return addPagedReference(resolver, name, connection);
  const { many } = field.options;
  const run = async (root: Referring & Item, ctx: Context): Promise<unknown> => {
    if (name === 'supersededBy') return supersedingOf(ctx, root);
    const ids = root.refs[name];
    if (many) return loadItems(ctx, root.view, (ids as string[] | undefined) ?? []);
    return ids == null ? null : loadItem(ctx, root.view, ids as string);
  };
  const { at, descriptor } = method(resolver, name, 2, run);
  FieldResolver(() => (many ? [item] : item) as never, { nullable: many !== true, description: field.options.description })(
    at,
    name,
    descriptor,
  );
  Root()(at, name, 0);
  Ctx()(at, name, 1);
}

function addPagedReference(resolver: ClassType<object>, name: string, connection: ClassType<object>): void {
  const run = async (root: Referring, { first, after }: PageArgs, ctx: Context): Promise<Connection<Item>> => {
    const items = await loadItems(ctx, root.view, (root.refs[name] as string[] | undefined) ?? []);
    const from = after == null ? 0 : Number(decodeCursor(after, 1)[0]) + 1;
    const rows = items.map((item, index) => ({ item, index })).slice(from, from + first + 1);
    const page = toConnection(rows, first, ({ index }) => [index]);
    return { ...page, nodes: page.nodes.map(({ item }) => item) };
  };
  const { at, descriptor } = method(resolver, name, 3, run);
  FieldResolver(() => connection)(at, name, descriptor);
  Root()(at, name, 0);
  Args(() => PageArgs)(at, name, 1);
  Ctx()(at, name, 2);
}

/** Resolvers of all collections, and of all fields that refer. */
export const COLLECTION_RESOLVERS: readonly ClassType<object>[] = [
  ...COLLECTIONS.map(resolverOf),
  ...SHAPES.flatMap(({ cls, fields }) => referenceResolver(cls, fields) ?? []),
];
