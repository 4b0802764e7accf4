/** Defects of the stock executor that the compiled one does not have, and what the compiled one hides. */
import { parse } from 'graphql';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorsOf } from '../../gateway/endpoints/graphql-errors.js';
import { Lru } from '../../gateway/plans/lru.js';
import type { FederatedResult } from '../../gateway/plans/executor.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest } from '../../runtime/request/request.js';
import { startPair, type Pair } from './federation/gateways.js';
import { SUBGRAPHS } from './federation/subgraphs.js';
import { answerOfWhole } from './federation/whole.js';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair(SUBGRAPHS);
});
beforeEach(() => pair.trouble({ seed: 1, nulls: 0, errors: 0 }));

const run = (executor: 'stock' | 'compiled', source: string, variables: Record<string, unknown> = {}): Promise<FederatedResult> =>
  pair[executor].execute({ document: parse(source), source, key: source, operationName: null, variables }, internalRequest(ANONYMOUS));

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

describe('defects of the stock executor that the compiled one does not have', () => {
  test.each([
    [
      'a required field with arguments does not replace what the client asked with others',
      '{ heaviest { id price(currency: USD) shipping } }',
    ],
    ['an alias may be called like a key', '{ heaviest { id: dims { unit } name: sku stock { count } } }'],
    [
      'a fragment on an interface within a concrete type applies, also one in another',
      '{ user(id: "User-1") { ... on Person { ... on User { name email } } } }',
    ],
    [
      "the name of an interface's object type does not replace the name of the type",
      '{ nodes(ids: ["Product-2", "Product-3"]) { ... on Movie { stars: rating __typename } b: id } }',
    ],
  ])('%s', async (_title, source) => {
    const whole = plain(await answerOfWhole(pair.apiSchema, [...pair.sources.values()], { source, variables: {} }));
    const [stock, compiled] = [await run('stock', source), await run('compiled', source)];
    expect(compiled.errors).toEqual([]);
    expect(plain(compiled.data)).toEqual(whole);
    expect(plain(stock.data)).not.toEqual(whole);
  });
});

describe('the compiled executor', () => {
  test('fetches an entity once, however many paths it has in the answer', async () => {
    const reviews = pair.sources.get('reviews')!;
    const before = reviews.asked;
    const { data } = await run('compiled', '{ matrix { id score } products { id score } }');
    const ids = [...JSON.stringify(data).matchAll(/"id":"(Product-\d)"/g)].map(match => match[1]!);
    expect(ids.length).toBeGreaterThan(new Set(ids).size);
    expect(reviews.asked - before).toBeLessThanOrEqual(2 * new Set(ids).size);
  });

  test('never shows an enum value or a field that is inaccessible', async () => {
    const source = '{ matrix { finish } }';
    const { data, extensions } = await run('compiled', source);
    expect(JSON.stringify(data)).not.toContain('SECRET');
    expect(plain(data)).toEqual(plain((await run('stock', source)).data));
    expect(plain(extensions)).toEqual(plain((await run('stock', source)).extensions));
  });

  test('leaves introspection to the stock executor', async () => {
    const source = '{ __type(name: "Product") { fields { name } } heaviest { id } }';
    expect(plain((await run('compiled', source)).data)).toEqual(plain((await run('stock', source)).data));
  });

  test('refuses variables that do not fit, before any subgraph is asked', async () => {
    const calls = () => [...pair.sources.values()].reduce((sum, source) => sum + source.calls, 0);
    const before = calls();
    const { data, errors } = await run('compiled', 'query ($id: ID!) { product(id: $id) { id } }', { id: { no: 1 } });
    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
    expect(calls()).toBe(before);
  });
});

describe('the store of compiled operations', () => {
  test('drops what was not used for longest, by number and by weight', () => {
    const lru = new Lru<number>(3, 100);
    for (const [key, weight] of [
      ['a', 10],
      ['b', 10],
      ['c', 10],
    ] as const)
      lru.set(key, 1, weight);
    lru.get('a');
    lru.set('d', 1, 10);
    expect(['a', 'b', 'c', 'd'].map(key => lru.get(key))).toEqual([1, undefined, 1, 1]);
    lru.set('e', 1, 85);
    expect(lru.size).toBe(2);
    lru.set('too heavy', 1, 101);
    expect(lru.get('too heavy')).toBeUndefined();
  });
});

test('a value that does not fit its type is an error of the answer, without the value, and told in no extension', () => {
  const logged: unknown[] = [];
  const log = { error: (fields: object) => void logged.push(fields) } as never;
  const fault = { message: 'Cannot return "187.77" for Float!', path: ['biomarker', 'unit'] };
  const result = { data: {}, errors: [], extensions: { valueCompletion: [fault] } } as unknown as FederatedResult;
  const errors = errorsOf(result, log);
  expect(errors).toMatchObject([{ path: ['biomarker', 'unit'], extensions: { code: 'INTERNAL' } }]);
  expect(JSON.stringify([errors, logged])).not.toContain('187.77');
  expect(logged).toHaveLength(1);
});
