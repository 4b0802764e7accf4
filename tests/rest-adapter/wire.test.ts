import { buildSchema, parse, type OperationDefinitionNode, type FieldNode } from 'graphql';
import { describe, expect, test } from 'vitest';
import { shapeOfField } from '../../rest-adapter/shape.js';
import { answerConverter } from '../../rest-adapter/answer.js';
import { toCamel, toSnake, toWireEnum, toWireType } from '../../runtime/schema/wire-names.js';

const NAMES: readonly (readonly [camel: string, snake: string])[] = [
  ['id', 'id'],
  ['userId', 'user_id'],
  ['line1', 'line1'],
  ['rejected24h', 'rejected24h'],
  ['latencyP50Ms', 'latency_p50_ms'],
  ['hdlC', 'hdl_c'],
  ['isDefaultShipping', 'is_default_shipping'],
  ['x', 'x'],
  ['aB', 'a_b'],
  ['url', 'url'],
];

describe('names', () => {
  test.each(NAMES)('%s is %s on the wire', (camel, snake) => {
    expect(toSnake(camel)).toBe(snake);
    expect(toCamel(snake)).toBe(camel);
  });

  test('line_1 names no field', () => expect(toCamel('line_1')).toBe('line_1'));

  test.each([
    ['BASELINE_SET', 'baseline_set'],
    ['S0', 's0'],
    ['H24', 'h24'],
  ])('enum value %s is %s', (name, wire) => expect(toWireEnum(name)).toBe(wire));

  test.each([
    ['LoopProposal', 'loop_proposal'],
    ['Improved', 'improved'],
  ])('type %s is %s', (name, wire) => expect(toWireType(name)).toBe(wire));
});

const schema = buildSchema(`
  scalar JSON
  scalar DateTime
  enum Colour { DEEP_RED BLUE }
  type PageInfo { endCursor: String hasNextPage: Boolean! }
  type LeafConnection { nodes: [Leaf!]! pageInfo: PageInfo! totalCount: Int }
  type Leaf implements Node { id: ID! leafColour: Colour! }
  type Stone implements Node { id: ID! weightKg: Float! rings: [Colour!] }
  interface Node { id: ID! }
  union Thing = Leaf | Stone
  type Query {
    leaf: Leaf leaves: LeafConnection! list: [Leaf!] grid: [[Colour]] things: [Thing!]! node: Node json: JSON jsons: [JSON] at: DateTime flag: Boolean
    nested: Nested
  }
  type Nested { innerLeaves: LeafConnection innerList: [Leaf] meta: JSON }
`);

function convert(selection: string, value: unknown, omitNull?: readonly string[]): unknown {
  const document = parse(`query ($on: Boolean = true) { ${selection} }`);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const shape = shapeOfField(schema, schema.getQueryType()!, operation.selectionSet.selections[0] as FieldNode);
  return answerConverter(shape, omitNull)(value);
}

const page = (nodes: unknown[], endCursor: string | null, hasNextPage: boolean) => ({ nodes, pageInfo: { endCursor, hasNextPage } });
const LEAF = { leafColour: 'DEEP_RED' };
const WIRE_LEAF = { leaf_colour: 'deep_red' };
const PAGE = 'pageInfo { endCursor hasNextPage }';

/** title, selection, GraphQL value, wire value */
const CASES: readonly (readonly [string, string, unknown, unknown])[] = [
  ['an object has snake_case keys and lower_snake enum values', 'leaf { leafColour }', LEAF, WIRE_LEAF],
  ['an alias is the key', 'leaf { theColour: leafColour }', { theColour: 'BLUE' }, { the_colour: 'blue' }],
  ['a fragment is merged', 'leaf { ... on Leaf { leafColour } id }', { leafColour: 'BLUE', id: 'l' }, { leaf_colour: 'blue', id: 'l' }],
  ['a key that is absent stays absent', 'leaf { id leafColour @include(if: $on) }', { id: 'l' }, { id: 'l' }],
  ['a connection is a page', `leaves { nodes { leafColour } ${PAGE} }`, page([LEAF], 'c', true), { data: [WIRE_LEAF], next_cursor: 'c' }],
  [
    'the last page has no next cursor',
    `leaves { nodes { id } ${PAGE} }`,
    page([{ id: 'l' }], 'c', false),
    { data: [{ id: 'l' }], next_cursor: null },
  ],
  ['an empty page', `leaves { nodes { id } ${PAGE} }`, page([], null, false), { data: [], next_cursor: null }],
  [
    'further fields of a connection stay',
    `leaves { nodes { id } ${PAGE} totalCount }`,
    { ...page([], null, false), totalCount: 7 },
    { data: [], next_cursor: null, total_count: 7 },
  ],
  ['a plain list is data', 'list { leafColour }', [LEAF, LEAF], { data: [WIRE_LEAF, WIRE_LEAF] }],
  ['lists of lists are walked', 'grid', [['BLUE', null], null], { data: [['blue', null], null] }],
  ['the inside of JSON is never renamed', 'json', { camelCase: { KEY: 'VALUE' } }, { camelCase: { KEY: 'VALUE' } }],
  ['nor are lists of JSON', 'jsons', [{ aB: 1 }], { data: [{ aB: 1 }] }],
  ['a scalar is itself', 'flag', true, true],
  [
    'a nested connection is a page, a nested list a list',
    `nested { innerLeaves { nodes { id } ${PAGE} } innerList { leafColour } meta }`,
    { innerLeaves: page([{ id: 'l' }], 'c', true), innerList: [LEAF, null], meta: { aB: 1 } },
    { inner_leaves: { data: [{ id: 'l' }], next_cursor: 'c' }, inner_list: [WIRE_LEAF, null], meta: { aB: 1 } },
  ],
  [
    'null stays null',
    `nested { innerLeaves { nodes { id } ${PAGE} } innerList { id } meta }`,
    { innerLeaves: null, innerList: null, meta: null },
    { inner_leaves: null, inner_list: null, meta: null },
  ],
  [
    'members of a union have their own keys',
    'things { kind: __typename ... on Leaf { leafColour } ... on Stone { weightKg rings } }',
    [
      { kind: 'Leaf', ...LEAF },
      { kind: 'Stone', weightKg: 2, rings: ['BLUE'] },
    ],
    {
      data: [
        { kind: 'leaf', ...WIRE_LEAF },
        { kind: 'stone', weight_kg: 2, rings: ['blue'] },
      ],
    },
  ],
  [
    'an unaliased __typename is dropped',
    'node { __typename id ... on Stone { weightKg } }',
    { __typename: 'Stone', id: 's', weightKg: 1 },
    { id: 's', weight_kg: 1 },
  ],
];

describe('answers', () => {
  test.each(CASES)('%s', (_, selection, value, wire) => expect(convert(selection, value)).toEqual(wire));

  test('a key to be omitted is left out where null and kept where not', () => {
    expect(convert('leaf { id leafColour }', { id: 'l', leafColour: null }, ['leaf_colour'])).toEqual({ id: 'l' });
    expect(convert('leaf { id leafColour }', { id: 'l', leafColour: 'BLUE' }, ['leaf_colour'])).toEqual({ id: 'l', leaf_colour: 'blue' });
  });

  test('the order of keys is the order of selection', () => {
    expect(Object.keys(convert('leaf { leafColour id }', { id: 'l', leafColour: 'BLUE' }) as object)).toEqual(['leaf_colour', 'id']);
  });
});
