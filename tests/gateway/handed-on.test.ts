/**
 * Answers of one service that are handed on as text, beside the same operations in process, where every value is written anew.
 * `HANDED_ON_OPERATIONS=20000` compares more.
 */
import { parse, type OperationDefinitionNode } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { asksTheSame } from '../../gateway/plans/compiled/same-selections.js';
import { Selections } from '../../gateway/plans/compiled/selections.js';
import type { Executor, FederatedResult } from '../../gateway/plans/executor.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest } from '../../runtime/request/request.js';
import { startPair, type Pair } from './federation/gateways.js';
import { operationOf } from './federation/operations.js';

const OPERATIONS = Number(process.env.HANDED_ON_OPERATIONS ?? 1_000);
const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@inaccessible"])';

const shelves = `
  type Query { shelf(size: Int = 3, near: String): Shelf shelves(first: Int): [[Shelf!]]! book(id: ID!): Book item: Item thing: Thing names: [String]! }
  type Mutation { tidy(name: String!): Shelf! }
  scalar JSON
  enum Kind { NOVEL ATLAS HIDDEN @inaccessible }
  type Shelf { name: String! width: Float levels: [[Int!]]! open: Boolean! next(steps: Int = 1): Shelf size: Size! books: [Book!] note: JSON kind: Kind }
  type Size { cm: Float! inch: Int unit(of: String): String }
  type Book @key(fields: "id") { id: ID! title: String! shelf: Shelf! pages: [Int] secret: String @inaccessible }
  interface Item { name: String! }
  type Box implements Item { name: String! size: Size }
  union Thing = Box | Shelf
`;
const readers = `
  type Query { me: Reader }
  type Reader { nick: String reads: Book }
  type Book @key(fields: "id") { id: ID! readers: Int }
`;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ shelves: LINK + shelves, readers: LINK + readers });
});

const handedOn = (): number => [...pair.sources.values()].reduce((sum, source) => sum + source.handedOn, 0);

const run = (executor: Executor, source: string, variables: Record<string, unknown> = {}): Promise<FederatedResult> =>
  executor.execute({ document: parse(source), source, key: source, operationName: null, variables }, internalRequest(ANONYMOUS));

/** The answer over the network, which is the one in process byte for byte, and whether it was handed on. */
async function compared(
  source: string,
  variables: Record<string, unknown> = {},
): Promise<{ text: string | undefined; isHandedOn: boolean }> {
  const before = handedOn();
  const [here, there] = [await run(pair.compiled, source, variables), await run(pair.remote, source, variables)];
  expect(there.text, source).toBe(here.text);
  expect(there.data, source).toEqual(here.data);
  expect(JSON.stringify(there.errors), source).toBe(JSON.stringify(here.errors));
  return { text: there.text, isHandedOn: handedOn() > before };
}

const quiet = (): void => pair.trouble({ seed: 0, nulls: 0, errors: 0 });

describe('what one service answers is handed on', () => {
  test.each([
    ['objects, lists and scalars', '{ shelf { name width levels open note size { cm } } names }'],
    ['other names', '{ a: shelf { n: name b: books { t: title } } }'],
    ['arguments and variables', 'query ($s: Int = 2) { shelf(size: $s, near: "x\\"y") { next(steps: $s) { size { unit(of: "m") } } } }'],
    ['fragments', '{ shelf { ...F ... on Shelf { open name } } } fragment F on Shelf { name next { name } }'],
    ['fields in several parts', '{ shelf { size { cm } } shelf { name size { inch } } }'],
    ['names of types', '{ shelf { __typename size { __typename } } }'],
    ['the key of an entity', '{ book(id: "1") { id title } }'],
    ['a change', 'mutation { tidy(name: "a") { name } }'],
  ])('%s', async (_what, source) => {
    quiet();
    expect((await compared(source)).isHandedOn).toBe(true);
  });
});

describe('what has to be read is not handed on', () => {
  test.each([
    ['an enum, of whose values the API may lack some', '{ shelf { name kind } }'],
    ['an interface', '{ item { name } }'],
    ['a union', '{ thing { ... on Box { name } ... on Shelf { width } } }'],
    ["the root's type name", '{ __typename names }'],
    ['data of two services', '{ book(id: "1") { title readers } }'],
    ['two fetches', '{ names me { nick } }'],
    ['a condition that decides', 'query ($c: Boolean = true) { shelf { name @include(if: $c) open } }'],
    ['an alias with the name of a key', '{ book(id: "1") { id: title } }'],
    ['a name that every object inherits', '{ shelf { constructor: name } }'],
  ])('%s', async (_what, source) => {
    quiet();
    expect((await compared(source)).isHandedOn).toBe(false);
  });

  test('data with an error', async () => {
    pair.trouble({ seed: 3, nulls: 0, errors: 1_000 });
    const { text, isHandedOn } = await compared('{ shelf { name } names }');
    expect([text, isHandedOn]).toEqual(['null', false]);
  });
});

/** Whether a fetch is what a client asks for. */
function isSameAs(client: string, fetch: string): boolean {
  const [document, root] = [parse(client), pair.apiSchema.getQueryType()!];
  const { selectionSet } = document.definitions[0] as OperationDefinitionNode;
  const selections = new Selections(pair.apiSchema, document, {});
  return asksTheSame(pair.apiSchema, root, { selections, sets: [selectionSet] }, fetch);
}

test.each([
  ['the same', '{ shelf { n: name open } }', true],
  ['the same in parts', 'query Q { shelf { ... on Shelf { n: name } } shelf { open } }', true],
  ['another order', '{ shelf { open n: name } }', false],
  ['another name', '{ shelf { name open } }', false],
  ['another field under the name', '{ shelf { n: note open } }', false],
  ['more', '{ shelf { n: name open __typename } }', false],
  ['less', '{ shelf { n: name } }', false],
  ['nothing of an object', '{ shelf }', false],
  ['a part under a condition', 'query ($c: Boolean!) { shelf { n: name open @include(if: $c) } }', false],
])('a fetch that asks for %s', (_what, fetch, isSame) => {
  expect(isSameAs('{ shelf { n: name open } }', fetch)).toBe(isSame);
});

test("the root's type name is left to the gateway also where a fetch asks for it", () => {
  expect(isSameAs('{ __typename }', '{ __typename }')).toBe(false);
});

test('generated operations have the same bytes, whether handed on or read', { timeout: 120_000 }, async () => {
  const [before, called] = [handedOn(), () => [...pair.sources.values()].reduce((sum, source) => sum + source.calls, 0)];
  for (let seed = 1; seed <= OPERATIONS; seed++) {
    pair.trouble({ seed, nulls: [0, 100, 300][seed % 3]!, errors: [0, 0, 15][seed % 3]! });
    const { source, variables } = operationOf(pair.apiSchema, seed);
    await compared(source, variables);
  }
  expect(called()).toBeGreaterThan(OPERATIONS);
  expect(handedOn() - before, 'a tenth of the operations at least').toBeGreaterThan(OPERATIONS / 10);
});
