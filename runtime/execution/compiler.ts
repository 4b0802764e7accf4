import {
  defaultFieldResolver,
  defaultTypeResolver,
  getNamedType,
  getNullableType,
  GraphQLError,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import { argumentsOf } from './arguments.js';
import { completeLeaf, unchangedTest } from './leaves.js';
import { compileObject, type ExecuteField, type ExecuteObject, type NamedField, type PropertyField } from './objects.js';
import { checkOf, type ContextCheck } from './properties.js';
import { failed, promiseOf, type Path, type Run, type Source } from './run.js';
import type { Selections } from './selections.js';

/** Completes a resolver's result: value of the answer, or a promise of it. `info` is null where no function needs it. */
type Complete = (run: Run, value: unknown, path: Path, info: GraphQLResolveInfo | null) => unknown;

/** One field of one type in an operation, before it runs. */
interface Site {
  readonly name: string;
  readonly parentType: GraphQLObjectType;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
}

const coordinateOf = ({ parentType, field }: Site): string => `${parentType.name}.${field.name}`;

/** Handles rejections of promises that nothing awaits, because an item failed its list: an unhandled rejection ends the process. */
function ignoreRejections(values: readonly unknown[]): void {
  for (const one of values) if (one instanceof Promise) one.catch(() => undefined);
}

/**
 * Compiles selection sets to functions that run them, with graphql-js's rules of completion, its order, and as many turns of the microtask
 * queue. The fields of an object type are compiled when the first object of the type comes, so unused parts of a document cost nothing.
 */
export class Compiler {
  constructor(
    private readonly source: Source,
    private readonly selections: Selections,
  ) {}

  /** Fields of the selection sets on one type, without those that the type does not have. */
  fieldsOf(type: GraphQLObjectType, nodes: readonly Pick<FieldNode, 'selectionSet'>[]): NamedField[] {
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return [...this.selections.fieldsOf(type, sets)].flatMap(([name, found]) => {
      const called = found[0]!.name.value;
      if (called === TypeNameMetaFieldDef.name) return { name, constant: type.name };
      const field = type.getFields()[called];
      return field ? this.#field({ name, parentType: type, field, nodes: found }) : [];
    });
  }

  #field(site: Site): NamedField {
    const { name, field } = site;
    const check = field.args.length === 0 && !this.#asksForInfo(site) && !this.#isRoot(site) ? checkOf(field) : undefined;
    return check === undefined ? { name, execute: this.#resolved(site) } : { name, read: this.#property(site, check) };
  }

  #isRoot({ parentType }: Site): boolean {
    return parentType === this.source.schema.getRootType(this.source.operation.operation);
  }

  /** Whether completion calls a function that takes `info`. */
  #asksForInfo({ field }: Site): boolean {
    const type = getNamedType(field.type);
    return isAbstractType(type) || (isObjectType(type) && type.isTypeOf !== undefined);
  }

  /** A field with a resolver. */
  #resolved(site: Site): ExecuteField {
    const { name, parentType, field, nodes } = site;
    const [resolve, argumentsFor, settle] = [field.resolve ?? defaultFieldResolver, argumentsOf(field, nodes[0]!), this.#settle(site)];
    const [infoOf, nonNull] = [this.#infoOf(site), isNonNullType(field.type)];
    return (run, source, above) => {
      const path = { prev: above, key: name, typename: parentType.name };
      try {
        const info = infoOf(run, path);
        return settle(run, resolve(source, argumentsFor(run.variables), run.context, info), path, info);
      } catch (error) {
        return failed(run, error, nodes, path, nonNull);
      }
    };
  }

  /** A field that is read from a property of its object, without arguments and `info`. */
  #property(site: Site, check: ContextCheck | null): PropertyField {
    const { name, parentType, field, nodes } = site;
    const [settle, nonNull] = [this.#settle(site), isNonNullType(field.type)];
    let resolved: ExecuteField | undefined; // compiled at the first method, which are rare
    const resolve: ExecuteField = (run, source, above) => (resolved ??= this.#resolved(site))(run, source, above);
    const type = getNullableType(field.type);
    return {
      property: field.name,
      check,
      isDone: unchangedTest(type),
      complete(run, value, source, above) {
        if (typeof value === 'function') return resolve(run, source, above);
        if (value == null && !nonNull) return null;
        const path = { prev: above, key: name, typename: parentType.name };
        try {
          return settle(run, value, path, null);
        } catch (error) {
          return failed(run, error, nodes, path, nonNull);
        }
      },
    };
  }

  #infoOf({ parentType, field, nodes }: Site): (run: Run, path: Path) => GraphQLResolveInfo {
    const { schema, fragments, operation } = this.source;
    return (run, path) => ({
      fieldName: field.name,
      fieldNodes: nodes,
      returnType: field.type,
      parentType,
      path,
      schema,
      fragments,
      rootValue: undefined,
      operation,
      variableValues: run.variables as Record<string, unknown>,
    });
  }

  /** Completes a resolver's value, and locates a rejection. @throws what completion throws synchronously */
  #settle({ field, nodes, ...rest }: Site): Complete {
    const [complete, nonNull] = [this.#complete(field.type, { field, nodes, ...rest }), isNonNullType(field.type)];
    return (run, value, path, info) => {
      const promise = promiseOf(value);
      const completed = promise ? promise.then(one => complete(run, one, path, info)) : complete(run, value, path, info);
      return completed instanceof Promise ? completed.then(undefined, error => failed(run, error, nodes, path, nonNull)) : completed;
    };
  }

  #complete(type: GraphQLOutputType, site: Site): Complete {
    if (isNonNullType(type)) return this.#nonNull(this.#complete(type.ofType, site), site);
    if (isListType(type)) return present(this.#list(type.ofType, site));
    if (isAbstractType(type)) return present(this.#abstract(type, site));
    if (isObjectType(type)) return present(this.#object(type, site));
    return (_run, value) => completeLeaf(type, value);
  }

  #nonNull(inner: Complete, site: Site): Complete {
    return (run, value, path, info) => {
      const completed = inner(run, value, path, info);
      if (completed === null) throw new Error(`Cannot return null for non-nullable field ${coordinateOf(site)}.`);
      return completed;
    };
  }

  #list(type: GraphQLOutputType, site: Site): Complete {
    const item = this.#item(type, site);
    return (run, value, path, info) => {
      if (typeof value !== 'object' || typeof (value as Iterable<unknown>)[Symbol.iterator] !== 'function')
        throw new GraphQLError(`Expected Iterable, but did not find one for field "${coordinateOf(site)}".`);
      const items: readonly unknown[] = Array.isArray(value) ? value : [...(value as Iterable<unknown>)];
      const results: unknown[] = [];
      let awaited = false;
      try {
        for (const one of items) {
          const result = item(run, one, { prev: path, key: results.length, typename: undefined }, info);
          awaited ||= result instanceof Promise;
          results.push(result);
        }
      } catch (error) {
        ignoreRejections([...results, ...items]);
        throw error;
      }
      return awaited ? Promise.all(results) : results;
    };
  }

  #item(type: GraphQLOutputType, site: Site): Complete {
    const [complete, nonNull] = [this.#complete(type, site), isNonNullType(type)];
    return (run, value, path, info) => {
      const fail = (error: unknown) => failed(run, error, site.nodes, path, nonNull);
      try {
        const promise = promiseOf(value);
        const completed = promise ? promise.then(one => complete(run, one, path, info)) : complete(run, value, path, info);
        return completed instanceof Promise ? completed.then(undefined, fail) : completed;
      } catch (error) {
        return fail(error);
      }
    };
  }

  #object(type: GraphQLObjectType, site: Site): Complete {
    let fields: ExecuteObject | undefined;
    const execute: Complete = (run, value, path) => (fields ??= compileObject(this.fieldsOf(type, site.nodes)))(run, value, path);
    if (!type.isTypeOf) return execute;
    return (run, value, path, info) => {
      const isOf = type.isTypeOf!(value, run.context, info!);
      const checked = (one: boolean) => {
        if (!one) throw new GraphQLError(`Expected value of type "${type.name}" but got another.`, { nodes: site.nodes });
        return execute(run, value, path, info);
      };
      return promiseOf(isOf)?.then(one => checked(one as boolean)) ?? checked(isOf as boolean);
    };
  }

  #abstract(type: GraphQLAbstractType, site: Site): Complete {
    const objects = new Map<unknown, Complete>();
    const objectOf = (name: unknown): Complete => {
      let object = objects.get(name);
      if (!object) objects.set(name, (object = this.#object(this.#runtimeType(type, name, site), site)));
      return object;
    };
    const resolve = type.resolveType ?? defaultTypeResolver;
    return (run, value, path, info) => {
      const name = resolve(value, run.context, info!, type);
      return promiseOf(name)?.then(one => objectOf(one)(run, value, path, info)) ?? objectOf(name)(run, value, path, info);
    };
  }

  /** @throws GraphQLError for a name that is no object type of the abstract type. */
  #runtimeType(abstract: GraphQLAbstractType, name: unknown, site: Site): GraphQLObjectType {
    const type = typeof name === 'string' ? this.source.schema.getType(name) : undefined;
    if (isObjectType(type) && this.source.schema.isSubType(abstract, type)) return type;
    const found = typeof name === 'string' ? `"${name}"` : typeof name;
    throw new GraphQLError(
      `Abstract type "${abstract.name}" of field "${coordinateOf(site)}" was resolved to ${found}, which is none of its types.`,
      { nodes: site.nodes },
    );
  }
}

/** Throws an error that a resolver returned, and completes null to null. */
const present =
  (complete: Complete): Complete =>
  (run, value, path, info) => {
    if (value instanceof Error) throw value;
    return value == null ? null : complete(run, value, path, info);
  };
