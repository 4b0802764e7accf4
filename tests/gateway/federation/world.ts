import { createHash } from 'node:crypto';
import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  execute,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  type DocumentNode,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import type { SubgraphAnswer } from '../../../gateway/plans/compiled/subgraph.js';
import type { SubgraphSource } from '../../../gateway/plans/subgraph-source.js';

/** The same number for the same values. */
export const hash = (...values: unknown[]): number => createHash('md5').update(JSON.stringify(values)).digest().readUInt32LE(0);

/** Nulls and errors in the subgraphs, in thousandths of field values. The same for the same seed, entity and field. */
export interface Trouble {
  seed: number;
  nulls: number;
  errors: number;
}

export interface Source {
  __typename: string;
  /** Identifies the object in every subgraph. */
  identity: string;
  [field: string]: unknown;
}

const ENTITY_IDS = 4;

/** Fields that name an entity follow from its number, so that every key leads to the same one. */
function keyValue(type: string, identity: string, field: string): unknown {
  const number = identity.split('/')[1]!;
  if (field === 'id') return identity.replace('/', '-');
  if (type === 'Product' && field === 'sku') return `sku ${number} "é" ${'x'.repeat(Number(number) * 15)}`;
  if (type === 'User' && field === 'email') return `${number}@example.org`;
  if (type === 'Region' && field === 'code') return `r${identity.split('/')[1]}`;
  if (type === 'Path') return field === 'root' ? `root${number}` : `leaf${number}`;
  return undefined;
}

const KEYED = new Set(['Product', 'User', 'Brand', 'Category', 'Book', 'Movie', 'Review', 'Crate']);
const PARTS_OF_KEYS = new Set(['Region', 'Path']);

/** `Product/2` from a representation by any of the type's keys. */
function identityOf(type: string, reference: Record<string, any>): string {
  const text = String(reference.id ?? reference.email ?? reference.path?.root ?? reference.sku);
  if (type === 'Media' && /^(Book|Movie)/.test(text)) return text.replace('-', '/');
  return `${type}/${/\d+/.exec(text)?.[0] ?? 0}`;
}

const typenameOf = (type: string, identity: string): string => (type === 'Media' ? identity.split('/')[0]! : type);

class World {
  trouble: Trouble = { seed: 0, nulls: 0, errors: 0 };

  constructor(private readonly schema: GraphQLSchema) {}

  /** A value for a field of an object. */
  value(type: GraphQLOutputType, source: Source, field: string, args: object, top: boolean): unknown {
    const key = keyValue(source.__typename, source.identity, field);
    if (key !== undefined) return key;
    const what = [source.__typename, source.identity, field, args];
    if (top) this.#go(isNonNullType(type), what);
    return this.#make(type, what, source);
  }

  #go(nonNull: boolean, what: unknown[]): void {
    const { seed, nulls, errors } = this.trouble;
    const dice = hash('trouble', seed, what) % 1000;
    if (dice < errors) throw new Error(`${what[0]}.${what[2]} of ${what[1]} failed`);
    if (dice < errors + nulls && !nonNull) throw NOTHING;
  }

  #make(type: GraphQLOutputType, what: unknown[], source: Source): unknown {
    const nullable = getNullableType(type);
    const dice = hash(what);
    if (isListType(nullable)) return Array.from({ length: dice % 4 }, (_, at) => this.#make(nullable.ofType, [...what, at], source));
    if (type === nullable && hash('absent', this.trouble.seed, what) % 1000 < this.trouble.nulls) return null;
    if (isEnumType(nullable)) return nullable.getValues()[dice % nullable.getValues().length]!.name;
    const { name } = getNamedType(type);
    if (isObjectType(nullable) || isAbstractType(nullable)) return this.#object(name, what, dice);
    return (
      { Int: dice % 1000, Float: (dice % 1000) / 4, Boolean: dice % 2 === 0, JSON: { a: [dice % 7, null], b: 'é' }, ID: `id${dice % 9}` }[
        name
      ] ?? (dice % 5 ? `text ${dice % 99}` : `"${dice}"\n☃`)
    );
  }

  #object(name: string, what: unknown[], dice: number): Source {
    const type = this.schema.getType(name)!;
    const possible = isAbstractType(type)
      ? this.schema
          .getPossibleTypes(type)
          .map(one => one.name)
          .sort()
      : [name];
    const chosen = possible[dice % possible.length]!;
    if (chosen === 'Media') return { __typename: 'Media', identity: `${['Book', 'Movie'][dice % 2]}/${dice % ENTITY_IDS}` };
    if (KEYED.has(chosen)) return { __typename: chosen, identity: `${chosen}/${(dice >>> 3) % ENTITY_IDS}` };
    if (PARTS_OF_KEYS.has(chosen)) return { __typename: chosen, identity: `${chosen}/${String(what[1]).split('/')[1]}` };
    return { __typename: chosen, identity: `${chosen}/${what.slice(0, 3).join('.')}/${what.slice(4).join('.')}` };
  }
}

const NOTHING = Symbol('null');

/** Fields whose value must show what `@requires` handed over. */
export const COMPUTED: Readonly<Record<string, (source: any) => unknown>> = {
  'Product.shipping': source => (source.price === undefined ? -1 : source.price === null ? null : source.price * 2),
  'Product.volume': source => JSON.stringify(source.dims ?? null),
  'Brand.greeting': source => `hello ${source.label}`,
};

/** A subgraph whose values are made from hashes, so that every subgraph has the same values for the same object. */
export class HashSubgraph implements SubgraphSource {
  /** Representations that were asked for, over all calls. */
  asked = 0;
  calls = 0;
  /** Answers whose text was handed on unread. */
  handedOn = 0;
  readonly #schema: GraphQLSchema;
  readonly #world: World;
  readonly #documents = new Map<string, DocumentNode>();

  constructor(
    readonly name: string,
    sdl: string,
  ) {
    const typeDefs = parse(sdl);
    const types = buildSubgraphSchema([{ typeDefs }]);
    const resolvers: Record<string, any> = {};
    for (const type of Object.values(types.getTypeMap()))
      if (!type.name.startsWith('_') && (isObjectType(type) || isAbstractType(type)))
        resolvers[type.name] = this.#resolvers(type.name, isAbstractType(type));
    this.#schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
    this.#world = new World(this.#schema);
    for (const type of Object.values(this.#schema.getTypeMap()))
      if (isObjectType(type) && !type.name.startsWith('_')) this.#install(type.name);
  }

  get schema(): GraphQLSchema {
    return this.#schema;
  }

  set trouble(trouble: Trouble) {
    this.#world.trouble = trouble;
  }

  #resolvers(type: string, abstract: boolean): object {
    return {
      ...(abstract && { __resolveType: (value: Source) => value.__typename }),
      __resolveReference: (reference: Record<string, unknown>) => {
        const identity = identityOf(type, reference);
        const { seed, errors } = this.#world.trouble;
        if (hash('gone', seed, this.name, identity) % 1000 < errors) return null;
        const isInterfaceObject = type === 'Media' && !abstract;
        return { ...reference, __typename: isInterfaceObject ? 'Media' : typenameOf(type, identity), identity };
      },
    };
  }

  #install(typeName: string): void {
    const type = this.#schema.getType(typeName);
    if (!isObjectType(type)) return;
    for (const field of Object.values(type.getFields())) {
      if (field.name.startsWith('_')) continue;
      field.resolve = (source: Source | undefined, args) => {
        const from = source ?? { __typename: typeName, identity: `${typeName}/0` };
        const computed = COMPUTED[`${typeName}.${field.name}`];
        if (computed && from.identity !== undefined) return computed(from);
        try {
          return this.#world.value(field.type, from, field.name, args, true);
        } catch (error) {
          if (error === NOTHING) return null;
          throw error;
        }
      };
    }
  }

  /** The value of a field that this subgraph resolves; undefined where it does not. `seen` is what `@requires` hands over. */
  own(typeName: string, fieldName: string): ((source: Source, args: object) => unknown) | undefined {
    const type = this.#schema.getType(typeName);
    const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
    const directives = field?.astNode?.directives?.map(directive => directive.name.value) ?? [];
    if (!field || directives.includes('external') || COMPUTED[`${typeName}.${fieldName}`]) return undefined;
    return (source, args) => this.#world.value(field.type, source, fieldName, args, false);
  }

  async #answer(query: string, variables: object | undefined): Promise<SubgraphAnswer> {
    this.calls++;
    this.asked += (variables as { representations?: unknown[] } | undefined)?.representations?.length ?? 0;
    let document = this.#documents.get(query);
    if (!document) this.#documents.set(query, (document = parse(query)));
    const answer = await execute({ schema: this.#schema, document, variableValues: variables as Record<string, unknown> });
    return JSON.parse(JSON.stringify(answer)) as SubgraphAnswer;
  }

  async process({ request }: { request: { query?: string; variables?: object } }): Promise<any> {
    return this.#answer(request.query!, JSON.parse(JSON.stringify(request.variables ?? {})));
  }

  /** This subgraph as in another process: it takes several lists of entities in one call. */
  remote(): SubgraphSource {
    return {
      process: request => this.process(request as never),
      prepare: query => this.prepare(query),
      prepareUnread: query => async variables => {
        const { data, errors } = await this.#answer(query, variables);
        if (errors) return { data, errors };
        this.handedOn++;
        return { text: JSON.stringify(data) };
      },
      prepareLists: (query, names) => (variables, lists) => {
        const given = Object.fromEntries(names.map((name, at) => [name, JSON.parse(`[${lists[at]!}]`) as unknown]));
        return this.#answer(query, { ...variables, ...given });
      },
    };
  }

  prepare(query: string) {
    return (variables: object, representations: string | null) =>
      this.#answer(query, { ...variables, ...(representations !== null && { representations: JSON.parse(`[${representations}]`) }) });
  }
}
