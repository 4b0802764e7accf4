/** Fetches of entities that become ready together: which calls they share, and what each gets of their answers. */
import { composeServices } from '@apollo/composition';
import { buildASTSchema, parse, validate } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { Calls } from '../../gateway/plans/compiled/calls.js';
import { MergedDocuments, mergedText } from '../../gateway/plans/compiled/merged-documents.js';
import type { Send, SubgraphAnswer } from '../../gateway/plans/compiled/subgraph.js';
import type { Executor, FederatedResult } from '../../gateway/plans/executor.js';
import { startGateway } from '../../gateway/plans/gateway.js';
import { createLogger } from '../../runtime/observe/log.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest } from '../../runtime/request/request.js';
import { HashSubgraph } from './federation/world.js';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires"])';
const CATALOG = `${LINK} type Query { products: [Product!]! users: [User!]! other: Product }
  type Product @key(fields: "id") { id: ID! maker: User } type User @key(fields: "id") { id: ID! first: Product second: Product }
  type Brand @key(fields: "id") { id: ID! label(n: Int): Int }`;
const STORE = `${LINK} type Product @key(fields: "id") { id: ID! price(in: Int): Int parts: [Part] brands: [Brand] } type Brand @key(fields: "id") { id: ID! } type Part { name: String size: Size } type Size { cm: Int }
  type User @key(fields: "id") { id: ID! email: String }`;

/** Another service with products at the root. */
const SHOP = `${LINK} type Query { offers(at: Int!): [Product!]! } type Product @key(fields: "id") { id: ID! }`;

/** A subgraph whose answers come so many turns of the event loop late. */
function late(source: HashSubgraph, turns: number): object {
  const turn = (): Promise<void> => new Promise(resolve => void setImmediate(resolve));
  const prepare = (query: string): Send => {
    const send = source.prepare(query);
    return async (variables, text) => {
      for (let left = turns; left > 0; left--) await turn();
      return send(variables, text);
    };
  };
  return { prepare };
}

/** The canned answers of `store`, of which a test replaces one. */
type Answering = (query: string, variables: Record<string, any>, answer: () => Promise<SubgraphAnswer>) => Promise<SubgraphAnswer>;
const honest: Answering = (_query, _variables, answer) => answer();
let answering: Answering = honest;
afterEach(() => void (answering = honest));

const sizes = (variables: Record<string, any>): number[] =>
  Object.values(variables)
    .filter(Array.isArray)
    .map(list => list.length);

/** The calls of `store`: the sizes of their lists of entities. */
let calls: number[][] = [];

function storeOf(isRemote: boolean): object {
  const real = new HashSubgraph('store', STORE);
  const ask = (query: string, variables: Record<string, any>): Promise<SubgraphAnswer> => {
    calls.push(sizes(variables));
    return answering(query, variables, () => real.process({ request: { query, variables } }) as Promise<SubgraphAnswer>);
  };
  const list = (text: string): unknown => JSON.parse(`[${text}]`);
  const prepare =
    (query: string): Send =>
    (variables, text) =>
      ask(query, { ...variables, ...(text !== null && { representations: list(text) }) });
  const prepareLists = (query: string, names: readonly string[]) => (variables: object, lists: readonly string[]) =>
    ask(query, { ...variables, ...Object.fromEntries(names.map((name, at) => [name, list(lists[at]!)])) });
  return { prepare, ...(isRemote && { prepareLists }) };
}

async function gatewayWith(isRemote: boolean): Promise<Executor> {
  const sdl = { catalog: CATALOG, shop: SHOP, store: STORE };
  const { supergraphSdl } = composeServices(
    Object.entries(sdl).map(([name, text]) => ({ name, typeDefs: parse(text), url: `http://${name}.invalid` })),
  );
  const sources = {
    catalog: new HashSubgraph('catalog', CATALOG),
    shop: late(new HashSubgraph('shop', SHOP), 2),
    store: storeOf(isRemote),
  };
  const source = (name: string) => sources[name as keyof typeof sources] as never;
  return (await startGateway({ supergraphSdl: supergraphSdl!, source, executor: 'compiled', log: createLogger('error') })).executor;
}

async function run(source: string, { isRemote = true, variables = {} } = {}): Promise<FederatedResult> {
  const executor = await gatewayWith(isRemote);
  calls = [];
  return executor.execute({ document: parse(source), source, key: source, operationName: null, variables }, internalRequest(ANONYMOUS));
}

const SAME = '{ users { id first { id price } second { id price } } }';
const DIFFERENT = 'query ($in: Int) { users { id email first { id price(in: $in) } second { id parts { name size { cm } } } } }';
const message = ({ errors }: FederatedResult): string[] => errors.map(({ message: text, path }) => `${text} at ${path?.join('.')}`).sort();

describe.each([true, false])('calls of one step to one service (over the network: %s)', isRemote => {
  test('with the same document are one, which asks each entity once', async () => {
    const { data, errors } = (await run(SAME, { isRemote })) as any;
    expect(errors).toEqual([]);
    const ids = data.users.flatMap(({ first, second }: any) => [first?.id, second?.id]).filter(Boolean);
    expect(calls).toEqual([[new Set(ids).size]]);
    expect(ids.length).toBeGreaterThan(new Set(ids).size);
  });

  test('tell each fetch the errors of its own entities, at its own paths', async () => {
    const failing: Answering = async (_query, _variables, answer) => {
      const { data } = await answer();
      data._entities[0].price = null;
      return { data, errors: [{ message: 'no price', path: ['_entities', 0, 'price'] }] };
    };
    answering = failing;
    const { data, errors } = (await run(SAME, { isRemote })) as any;
    const [{ first }] = data.users;
    const expected = data.users.flatMap((user: any, at: number) =>
      ['first', 'second'].flatMap(field => (user[field]?.id === first.id ? [`users.${at}.${field}.price`] : [])),
    );
    expect(errors.map(({ path }: any) => path.join('.')).sort()).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(1);
  });

  test('share no object of the answer, so that a change of one is none of the other', async () => {
    const fields = (n: number) => `id brands { id x: label(n: ${n}) }`;
    const source = `{ users { first { ${fields(1)} } second { ${fields(2)} } } }`;
    const { data } = (await run(source, { isRemote })) as any;
    expect(calls).toHaveLength(1);
    const apart = (await run(source.replace('x:', 'y:'), { isRemote })) as any; // the same fetches, without a common name
    const named = JSON.parse(JSON.stringify(apart.data).replaceAll('"y"', '"x"')) as unknown;
    expect(data).toEqual(named);
    expect(JSON.stringify(data)).toContain('"x"');
  });

  test('fail together with an answer that has another number of entities', async () => {
    answering = async (_query, _variables, answer) => {
      const { data } = await answer();
      return { data: { _entities: data._entities.slice(1) } };
    };
    const result = await run(SAME, { isRemote });
    expect(message(result)).toHaveLength(2);
    expect(message(result)[0]).toMatch('Expected "data._entities" to contain');
  });
});

describe('calls of different documents', () => {
  test('are one over the network, and answer as those by themselves do in process', async () => {
    const remote = await run(DIFFERENT, { variables: { in: 3 } });
    expect(calls).toHaveLength(1);
    expect(calls[0]!.length).toBeGreaterThan(1);
    const local = await run(DIFFERENT, { variables: { in: 3 }, isRemote: false });
    expect(calls.length).toBeGreaterThan(1);
    expect([remote.text, remote.errors]).toEqual([local.text, []]);
  });

  test('are asked again by themselves when one takes the data of all, so that only that one fails', async () => {
    answering = async (query, _variables, answer) =>
      query.includes('email') ? { data: null, errors: [{ message: 'refused', path: ['_entities'] }] } : answer();
    const result = await run(DIFFERENT);
    const [{ email, first }] = (result as any).data.users;
    expect([email, first.price !== null]).toEqual([null, true]);
    expect(new Set(result.errors.map(error => error.message))).toEqual(new Set(['refused']));
    expect(calls).toHaveLength(1 + calls[0]!.length);
  });

  test('are no call of more entities than a service takes', async () => {
    const sent: number[] = [];
    const count = (lists: readonly string[]): number => lists.join(',').split(',').length;
    const answered = (lists: readonly string[]): Promise<SubgraphAnswer> => {
      sent.push(count(lists));
      return Promise.resolve({ data: Object.fromEntries(['_entities', '_e0', '_e1'].map(name => [name, []])) });
    };
    const subgraph = { prepare: () => null as never, prepareLists: () => (_: object, lists: readonly string[]) => answered(lists) };
    const text = 'query($representations:[_Any!]!){_entities(representations:$representations){__typename}}';
    const documents = [0, 1].map(id => ({ id, text, subgraph, send: (_: object, list: string | null) => answered([list!]) }));
    const calls = new Calls(new MergedDocuments(), internalRequest(ANONYMOUS));
    const ask = (at: number, from: number, size: number) =>
      calls.send(
        documents[at]!,
        {},
        Array.from({ length: size }, (_, id) => `{"id":${from + id}}`),
      );
    await Promise.all([ask(0, 0, 600), ask(0, 600, 401), ask(0, 100, 400), ask(1, 0, 300), ask(1, 0, 900)]);
    expect(Math.max(...sent)).toBeLessThanOrEqual(1_000);
    expect(sent.toSorted((a, b) => a - b)).toEqual([600, 701, 900]);
  });
});

test('calls over the network become one also when what leads to them was answered a few turns of the event loop apart', async () => {
  const { data, errors } = await run(
    '{ users { first { id price } } a: offers(at: 1) { id price } b: offers(at: 2) { id price } c: offers(at: 3) { id price } }',
  );
  expect(errors).toEqual([]);
  expect(['a', 'b', 'c'].flatMap(name => data![name])).not.toEqual([]);
  expect(calls).toHaveLength(1);
});

test('a document of several has their fragments, lists and variables beside each other', () => {
  const schema = buildASTSchema(
    parse(
      'scalar _Any union _Entity = A | B type A { x(n: Int): Int } type B { x: String } type Query { _entities(representations: [_Any!]!): [_Entity]! }',
    ),
  );
  const text = mergedText([
    'query($representations:[_Any!]!,$n:Int=1){_entities(representations:$representations){...F}} fragment F on A{x(n:$n)}',
    'query($representations:[_Any!]!){_entities(representations:$representations){...F}} fragment F on B{x}',
    'query($representations:[_Any!]!,$n:Int=1){_entities(representations:$representations){... on A{x(n:$n)}}}',
  ]);
  expect(validate(schema, parse(text))).toEqual([]);
});
