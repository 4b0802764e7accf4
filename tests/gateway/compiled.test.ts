/** The compiled executor, part by part. */
import { buildASTSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { CompiledExecutor } from '../../gateway/plans/compiled/executor.js';
import { quoted } from '../../gateway/plans/compiled/json.js';
import { merge, share } from '../../gateway/plans/compiled/merge.js';
import { compilePath, responsePaths } from '../../gateway/plans/compiled/paths.js';
import type { Planner } from '../../gateway/plans/compiled/planner.js';
import { compileRepresentation, type Requirement } from '../../gateway/plans/compiled/representations.js';
import { PlanChecks } from '../../gateway/plans/compiled/plan-checks.js';
import { ResponseNames } from '../../gateway/plans/compiled/response-names.js';
import type { Run } from '../../gateway/plans/compiled/run.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest } from '../../runtime/request/request.js';

const newRun = (data: Record<string, unknown> = {}): Run => ({
  data,
  text: null,
  handsOn: false,
  variables: {},
  request: internalRequest(ANONYMOUS),
  calls: null as never,
  errors: [],
  shared: null,
});

describe('a path', () => {
  const user = { id: '1' };
  const data = { a: { list: [{ user }, null, { user }, { user: null }], deep: [[user], [null]] } };

  test('collects each object once, and ends at null', () => {
    expect(compilePath(['a', 'list', '@', 'user'])(data)).toEqual([user]);
    expect(compilePath(['a', 'deep', '@', '@'])(data)).toEqual([user]);
    expect(compilePath(['a', 'nothing', '@'])(data)).toEqual([]);
  });

  test('finds every path of an object', () => {
    expect(responsePaths(data, ['a', 'list', '@', 'user']).get(user)).toEqual([
      ['a', 'list', 0, 'user'],
      ['a', 'list', 2, 'user'],
    ]);
  });
});

describe('merging', () => {
  test('joins objects and lists of equal length member by member, and replaces everything else', () => {
    const target: Record<string, unknown> = { a: 1, o: { x: 1 }, rows: [{ x: 1 }, { x: 2 }], short: [1], grid: [[{ x: 1 }]] };
    merge(target, { a: 2, o: { y: 2 }, rows: [{ y: 1 }, null], short: [1, 2], grid: [[{ y: 1 }]], missing: undefined }, newRun());
    expect(target).toEqual({ a: 2, o: { x: 1, y: 2 }, rows: [{ x: 1, y: 1 }, null], short: [1, 2], grid: [[{ x: 1, y: 1 }]] });
  });

  test('of one entity at two paths lets each be changed alone', () => {
    const [run, first, second] = [newRun(), {} as Record<string, any>, {} as Record<string, any>];
    const entity = { size: { unit: 'cm', inner: { deep: 1 } } };
    share(entity, run);
    merge(first, entity, run);
    merge(second, entity, run);
    expect(first.size).toBe(second.size);
    merge(first, { size: { height: 1, inner: { deeper: 2 } } }, run);
    expect(first).toEqual({ size: { unit: 'cm', height: 1, inner: { deep: 1, deeper: 2 } } });
    expect(second).toEqual({ size: { unit: 'cm', inner: { deep: 1 } } });
  });
});

describe('a representation', () => {
  const schema = buildASTSchema(
    parse(
      'type Query { a: Media } interface Media { id: ID! } type Book implements Media { id: ID! size: Size } type Film implements Media { id: ID! } type Size { cm: Int }',
    ),
  );
  const field = (name: string, selections?: Requirement[]): Requirement =>
    ({ kind: 'Field', name, ...(selections && { selections }) }) as Requirement;
  const on = (typeCondition: string, selections: Requirement[]): Requirement =>
    ({ kind: 'InlineFragment', typeCondition, selections }) as Requirement;
  const represent = compileRepresentation(schema, [
    on('Media', [field('__typename'), field('id')]),
    on('Book', [field('__typename'), field('size', [field('cm')])]),
  ]);

  test('has the fields of every fragment that fits the type', () => {
    expect(represent({ __typename: 'Book', id: '1', size: { cm: 3 }, more: true })).toBe('{"__typename":"Book","id":"1","size":{"cm":3}}');
    expect(represent({ __typename: 'Film', id: '"2"' })).toBe(String.raw`{"__typename":"Film","id":"\"2\""}`);
    expect(represent({ __typename: 'Book', id: '1', size: [{ cm: 1 }, null] })).toBe(
      '{"__typename":"Book","id":"1","size":[{"cm":1},null]}',
    );
  });

  test('leaves out a fragment of which a field is missing, and is not made without a type name', () => {
    expect(represent({ __typename: 'Book', id: '1' })).toBe('{"__typename":"Book","id":"1"}');
    expect(represent({ __typename: 'Film' })).toBeNull();
    expect(represent({ id: '1' })).toBeNull();
    expect(represent({ __typename: 'Unknown', id: '1' })).toBeNull();
  });
});

test.each([
  '',
  'plain',
  'with "quotes"',
  'back\\slash',
  'line\nbreak',
  '\u0000',
  '\ud800',
  '😀',
  'é',
  'x'.repeat(60),
  `${'x'.repeat(60)}"`,
  `${'x'.repeat(60)}\ud83d`,
])('a string is quoted as JSON.stringify does it: %j', text => {
  expect(quoted(text)).toBe(JSON.stringify(text));
});

test('response names that could equal the name of a field which a plan fetches are changed, and no others', () => {
  const supergraph = buildASTSchema(
    parse(`directive @join__type(key: String) on OBJECT directive @join__field(requires: String) on FIELD_DEFINITION
    type Query { a: A } type A @join__type(key: "id nest { code }") { id: ID price(in: Int): Int cost: Int @join__field(requires: "price(in: 1)") name(x: Int): Int }`),
    { assumeValid: true },
  );
  const { names } = new ResponseNames(supergraph, supergraph).rename(
    parse('{ a { id code: cost name(x: 1) price(in: 2) toString: id client_x: id x: id } }'),
  );
  expect([...names.values()]).toEqual(['code', 'price', 'toString', 'client_x']);
});

test('a plan with a node that is not known runs on the stock executor', async () => {
  const schema = buildASTSchema(parse('type Query { a: Int }'));
  const planner: Planner = {
    plan: () => ({ planned: null as never, node: { kind: 'Defer' } as never }),
    shape: () => ({ data: null, errors: [] }),
  };
  const stock = { execute: async () => ({ data: { a: 'stock' }, errors: [] }) };
  const executor = new CompiledExecutor({
    planner,
    apiSchema: schema,
    supergraph: schema,
    names: new ResponseNames(schema, schema),
    checks: new PlanChecks(schema),
    subgraph: () => ({ prepare: () => async () => ({}) }),
    stock,
  });
  const result = await executor.execute(
    { document: parse('{ a }'), source: '{ a }', key: 'k', operationName: null, variables: {} },
    internalRequest(ANONYMOUS),
  );
  expect(result.data).toEqual({ a: 'stock' });
});
