/**
 * The compiled execution of subgraph operations against graphql-js: the same generated operations on the same schemas, whose resolvers
 * fail, wait and answer what their types forbid. `EXECUTION_OPERATIONS=20000` runs more, `EXECUTION_SEED=7` one of them.
 */
import {
  buildSchema,
  isObjectType,
  parse,
  responsePathAsArray,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { compiledExecutor, stockExecutor, type Executor } from '../../runtime/execution/executor.js';
import type { Asked } from '../../runtime/execution/operation.js';
import { propertyBehind } from '../../runtime/execution/properties.js';
import { operationOf, type Generated } from '../gateway/federation/operations.js';
import { SUBGRAPHS } from '../gateway/federation/subgraphs.js';
import { hash, HashSubgraph, type Source } from '../gateway/federation/world.js';

const OPERATIONS = Number(process.env.EXECUTION_OPERATIONS ?? 3_000);
const ONLY = process.env.EXECUTION_SEED;
const NAMES = Object.keys(SUBGRAPHS);

/** What resolvers were called with, in their order. */
const calls: string[] = [];
let seed = 0;

const note = (args: object, info: GraphQLResolveInfo): void => {
  const { fieldName, fieldNodes, returnType, parentType, path, operation, variableValues, rootValue } = info;
  const told = [`${parentType.name}.${fieldName}`, responsePathAsArray(path), args, fieldNodes.length, String(returnType), variableValues];
  calls.push(JSON.stringify([...told, operation.operation, rootValue ?? null, Object.keys(info).sort(), path.typename]));
};

async function later<T>(turns: number, value: T | Error): Promise<T> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
  if (value instanceof Error) throw value;
  return value;
}

const WRONG = [{ no: 'leaf' }, 'no number', 1.5, Number.NaN, true, 2 ** 40, [], Symbol('x').description, new Set([1])];

/** A value as a resolver may hand it over: at once, in some turns, its items each in theirs, as an error, through a method, or a wrong one. */
function handOver(value: unknown, dice: number): unknown {
  const turns = dice % 7;
  if (dice % 97 === 0) return WRONG[(dice >> 7) % WRONG.length];
  if (dice % 89 === 0) return new Error('returned');
  if (dice % 83 === 0) return later(turns, new Error('rejected'));
  if (dice % 79 === 0 && value instanceof Object && '__typename' in value)
    return { ...value, __typename: ['Nothing', 'Query', 3][turns % 3] };
  if (dice % 5 === 0 && Array.isArray(value))
    return value.map((one, at) => ((dice >> at) % 3 ? later((dice >> at) % 5, (dice >> at) % 11 ? one : new Error(`item ${at}`)) : one));
  if (dice % 7 === 0 && Array.isArray(value)) return new Set(value);
  return dice % 3 ? value : later(turns, value);
}

/** The schema of a subgraph whose plain fields are getters of their objects, and whose other resolvers tell of their calls. */
function trickySchema(name: string): { schema: GraphQLSchema; subgraph: HashSubgraph } {
  const subgraph = new HashSubgraph(name, SUBGRAPHS[name]!);
  const { schema } = subgraph;
  const prototypes = new Map<string, object>();
  const dress = (value: unknown): unknown => {
    if (value instanceof Promise) return value.then(dress);
    if (Array.isArray(value)) return value.map(dress);
    const prototype = prototypes.get((value as Source | null)?.__typename ?? '');
    return prototype ? Object.setPrototypeOf({ ...(value as Source) }, prototype) : value;
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const properties: PropertyDescriptorMap = {};
    for (const field of Object.values(type.getFields())) {
      const inner = field.resolve as GraphQLFieldResolver<unknown, unknown>;
      const answer = (source: unknown, args: object, info: unknown) =>
        handOver(
          dress(inner(source && { ...source }, args as never, null, info as never)), // without the getters, which are not for them
          hash(seed, type.name, (source as Source | undefined)?.identity, field.name, args),
        );
      const isProperty = field.args.length === 0 && type !== schema.getQueryType() && type !== schema.getMutationType();
      if (isProperty && hash(name, type.name, field.name) % 4) {
        delete field.resolve;
        properties[field.name] = {
          get(this: Source) {
            const isMethod = hash(seed, field.name, this.identity) % 13 === 0;
            return isMethod ? () => answer(this, {}, null) : answer(this, {}, null);
          },
        };
      } else
        field.resolve = (source, args, _context, info) => {
          note(args, info);
          return answer(source, args, info);
        };
    }
    prototypes.set(type.name, Object.create(null, properties));
  }
  return { schema, subgraph };
}

const SCHEMAS = NAMES.map(trickySchema);

/** What they say of a wrong result differs, because ours names no values. */
const messageOf = ({ message }: GraphQLError): string =>
  message.replace(/^Expected `.*/s, 'not serialised').replace(/^(Abstract type|Runtime Object type) .*/s, 'no such type');

const comparable = ({ data, errors }: ExecutionResult): object => ({
  data: JSON.stringify(data),
  errors: errors?.map(error => ({
    message: messageOf(error),
    path: error.path,
    locations: error.locations,
    cause: error.originalError?.constructor.name,
  })),
  calls: calls.splice(0),
});

/** Failures that nobody took while one of the two ran. graphql-js leaves those of a list's items when a later item ends the list. */
const unheard: unknown[] = [];
const listen = (error: unknown): void => void unheard.push(error);
let listeners: NodeJS.UnhandledRejectionListener[] = [];
beforeAll(() => {
  listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', listen);
});
afterAll(() => {
  process.off('unhandledRejection', listen);
  for (const one of listeners) process.on('unhandledRejection', one);
});

async function answerOf(how: Executor, asked: Asked): Promise<object> {
  calls.length = 0;
  const result = await how(asked);
  await new Promise(setImmediate); // what goes on after an answer that failed early is not of the next
  return comparable(result);
}

const compiled = compiledExecutor(0);

/** Representations in place of what a generator knows nothing of. */
function withReferences(schema: GraphQLSchema, { source, variables }: Generated): Record<string, unknown> {
  const name = /_entities\(representations: \$(\w+)\)/.exec(source)?.[1];
  const types = [...new Set([...source.matchAll(/on ([A-Z]\w+)/g)].map(match => match[1]!))];
  const references = types
    .filter(one => isObjectType(schema.getType(one)))
    .map((__typename, at) => ({ __typename, id: `${__typename}-${(seed + at) % 4}` }));
  return name ? { ...variables, [name]: references } : variables;
}

/** The same variables with other conditions, and now and then with one that is refused. */
function otherVariables(variables: Record<string, unknown>): Record<string, unknown> {
  const flipped = Object.entries(variables).map(([name, value]) => [name, name.startsWith('c') ? !value : value]);
  if (seed % 9 === 0 && flipped.length) flipped[seed % flipped.length]![1] = seed % 2 ? null : { not: 'this' };
  return Object.fromEntries(flipped) as Record<string, unknown>;
}

async function compare(at: number): Promise<void> {
  seed = at;
  const { schema, subgraph } = SCHEMAS[at % SCHEMAS.length]!;
  subgraph.trouble = { seed, nulls: [0, 30, 100][seed % 3]!, errors: [0, 20, 60, 0][seed % 4]! };
  const generated = operationOf(schema, at);
  const [document, first] = [parse(generated.source), withReferences(schema, generated)];
  for (const variableValues of [first, otherVariables(first)]) {
    const asked = { schema, document, variableValues, contextValue: {} };
    const wanted = await answerOf(stockExecutor, asked);
    unheard.length = 0;
    const got = await answerOf(compiled, asked);
    expect(unheard, `seed ${at}: ${generated.source} ${JSON.stringify(got)}`).toEqual([]);
    expect(got, `seed ${at}: ${generated.source}\n${JSON.stringify(variableValues)}`).toEqual(wanted);
  }
}

test.each(NAMES.map((name, at) => [name, at] as const))(
  'generated operations on %s: the same answers, errors and calls of resolvers as by graphql-js',
  { timeout: 120_000 },
  async (_name, part) => {
    const seeds = ONLY ? [Number(ONLY)] : Array.from({ length: OPERATIONS / NAMES.length }, (_, at) => at * NAMES.length + part);
    for (const at of seeds) await compare(at);
  },
);

describe('the compiled executor', () => {
  const schema = buildSchema('type Query { people(first: Int): [Person!] } type Person { name: String email: String, friend: Person }');
  const { name, email } = (schema.getType('Person') as GraphQLObjectType).getFields();
  const check = vi.fn<(context: { mayRead: boolean }) => void>(context => {
    if (!context.mayRead) throw new Error('not for you');
  });
  for (const field of [name, email]) field!.resolve = propertyBehind(check);
  schema.getQueryType()!.getFields().people!.resolve = () => [
    { name: 'a', email: 'a@example.org' },
    // oxlint-disable-next-line unicorn/no-thenable -- as a query builder is one
    { name: () => 'b', email: Promise.resolve('b@example.org'), friend: { then: (take: (value: object) => void) => take({ name: 'c' }) } },
  ];
  const ask = (executor: Executor, source: string, asked: Partial<Asked> = {}) =>
    Promise.resolve(executor({ schema, document: parse(source), contextValue: { mayRead: true }, ...asked })).then(answer =>
      JSON.stringify(answer),
    );

  test.each([
    ['introspection', '{ __schema { queryType { name } } a: __type(name: "Person") { name } }', {}],
    ['a name that objects have a meaning for', '{ __proto__: people { name } }', {}],
    ['one of several operations', 'query A { people { name } } query B { people { email } }', { operationName: 'B' }],
    ['an operation that is not there', 'query A { people { name } }', { operationName: 'B' }],
    ['a condition that is null', 'query ($on: Boolean = true) { people @include(if: $on) { name } }', { variableValues: { on: null } }],
    ['a kind of operation that is not there', 'mutation { people }', {}],
  ])('leaves %s to graphql-js', async (_what, source, asked) => {
    expect(await ask(compiledExecutor(0), source, asked)).toBe(await ask(stockExecutor, source, asked));
  });

  test('answers a document that comes again as it did before', async () => {
    const [executor, document] = [
      compiledExecutor(2),
      parse('query ($n: Int) { people(first: $n) { __typename name email friend { name } } }'),
    ];
    const answers = new Set<string>();
    for (let time = 0; time < 5; time++) answers.add(await ask(executor, '{ x }', { document, variableValues: { n: time } }));
    expect([...answers]).toEqual([await ask(stockExecutor, '{ x }', { document })]);
  });

  test('tells of each field that a caller may not read, by one check of an object', async () => {
    const [source, contextValue] = ['{ people { name email } }', { mayRead: false }];
    const wanted = await ask(stockExecutor, source, { contextValue });
    check.mockClear();
    expect(await ask(compiledExecutor(0), source, { contextValue })).toBe(wanted);
    expect(JSON.parse(wanted)).toMatchObject({ errors: [1, 2, 3, 4].map(() => ({ message: 'not for you' })) });
    expect(check).toHaveBeenCalledTimes(2);
  });

  test('drops the operations that were not used for longest', async () => {
    const executor = compiledExecutor(0);
    const fields = Array.from({ length: 400 }, (_, at) => `a${at}: email`).join(' ');
    const documents = Array.from({ length: 100 }, () => parse(`{ people { ${fields} } }`, { noLocation: true }));
    const answers = new Set<string>();
    for (const document of [...documents, documents[0]!]) answers.add(await ask(executor, '{ x }', { document }));
    expect(answers.size).toBe(1);
  });
});
