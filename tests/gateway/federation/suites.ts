import type { Suite } from './suite.js';

const PRODUCTS = [
  { upc: 'p1', name: 'name 1', price: 11, weight: 1, averagePrice: 11 },
  { upc: 'p2', name: 'name 2', price: 22, weight: 2, averagePrice: 22 },
];
const productOf = ({ upc }: { upc: string }) => PRODUCTS.find(one => one.upc === upc)!;
const inCurrency = (price: number, { currency }: { currency: string }): number => (currency === 'EUR' ? price * 2 : price);

const REQUIRES_CONFLICT: Suite = {
  name: '@requires of one field with different arguments',
  subgraphs: {
    shipping: {
      sdl: `
        type Product @key(fields: "upc") {
          upc: String!
          weight: Int @external
          price(currency: String!): Int @external
          category: Category @external
          estimate: Int @requires(fields: "price(currency: \\"USD\\") weight")
          estimateEuro: Int @requires(fields: "price(currency: \\"EUR\\") weight")
          isExpensive: Boolean @requires(fields: "category { averagePrice(currency: \\"USD\\") }")
          isExpensiveEuro: Boolean @requires(fields: "category { averagePrice(currency: \\"EUR\\") }")
        }
        type Category @external { averagePrice(currency: String!): Int }`,
      resolvers: {
        Product: {
          __resolveReference: (reference: object) => reference,
          estimate: (one: any) => one.price * one.weight * 10,
          estimateEuro: (one: any) => one.price * one.weight * 10,
          isExpensive: (one: any) => one.category.averagePrice > 21,
          isExpensiveEuro: (one: any) => one.category.averagePrice > 21,
        },
      },
    },
    catalogue: {
      sdl: `
        type Query { products: [Product] }
        type Product @key(fields: "upc") { upc: String! name: String price(currency: String!): Int weight: Int category: Category }
        type Category { averagePrice(currency: String!): Int }`,
      resolvers: {
        Query: { products: () => PRODUCTS },
        Product: {
          __resolveReference: productOf,
          price: ({ price }: any, args: any) => inCurrency(price, args),
          category: (one: any) => one,
        },
        Category: { averagePrice: ({ averagePrice }: any, args: any) => inCurrency(averagePrice, args) },
      },
    },
  },
  queries: [
    {
      query: '{ products { upc estimate } }',
      data: {
        products: [
          { upc: 'p1', estimate: 110 },
          { upc: 'p2', estimate: 440 },
        ],
      },
    },
    { query: '{ products { estimateEuro } }', data: { products: [{ estimateEuro: 220 }, { estimateEuro: 880 }] } },
    { query: '{ products { estimate estimateEuro } }', data: null, refused: /Product.estimate and Product.estimateEuro need price/ },
    {
      query: '{ products { price(currency: "EUR") estimate } }',
      data: {
        products: [
          { price: 22, estimate: 110 },
          { price: 44, estimate: 440 },
        ],
      },
    },
    {
      query: '{ products { price(currency: "USD") estimateEuro } }',
      data: {
        products: [
          { price: 11, estimateEuro: 220 },
          { price: 22, estimateEuro: 880 },
        ],
      },
    },
    {
      query: '{ products { price(currency: "EUR") estimateEuro ...E } } fragment E on Product { estimate }',
      data: null,
      refused: /need price/,
    },
    { query: '{ products { isExpensive isExpensiveEuro } }', data: null, refused: /need averagePrice with different arguments/ },
    {
      query: '{ products { isExpensive } others: products { isExpensiveEuro } }',
      data: {
        products: [{ isExpensive: false }, { isExpensive: true }],
        others: [{ isExpensiveEuro: true }, { isExpensiveEuro: true }],
      },
    },
    ...[true, false].map(given => ({
      query:
        'query ($given: Boolean!) { products { estimate @include(if: $given) estimateEuro @skip(if: $given) price(currency: "EUR") } }',
      variables: { given },
      data: {
        products: PRODUCTS.map(({ price, weight }) => ({
          ...(given ? { estimate: price * weight * 10 } : { estimateEuro: 2 * price * weight * 10 }),
          price: 2 * price,
        })),
      },
    })),
    {
      query: 'query ($given: Boolean!) { products { price(currency: "EUR") @include(if: $given) estimate } }',
      variables: { given: true },
      data: {
        products: [
          { price: 22, estimate: 110 },
          { price: 44, estimate: 440 },
        ],
      },
    },
    {
      query: '{ products { category { averagePrice(currency: "EUR") } isExpensive } }',
      data: {
        products: [
          { category: { averagePrice: 22 }, isExpensive: false },
          { category: { averagePrice: 44 }, isExpensive: true },
        ],
      },
    },
    {
      query: 'query ($in: String!) { products { cost: price(currency: $in) estimate } }',
      variables: { in: 'EUR' },
      data: {
        products: [
          { cost: 22, estimate: 110 },
          { cost: 44, estimate: 440 },
        ],
      },
    },
  ],
};

const NODE = { id: 'n1' };
const INTERFACE_WITHOUT_TYPES: Suite = {
  name: 'an interface that no object type implements',
  subgraphs: {
    a: {
      sdl: `
        type Query { a: Node ok: Int }
        interface Node @key(fields: "id") { id: ID! }`,
      resolvers: { Query: { a: () => NODE, ok: () => 1 }, Node: { __resolveType: () => 'Node' } },
    },
    b: {
      sdl: `
        type Query { b: Node }
        type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! field: String }`,
      resolvers: { Query: { b: () => ({ id: 'n1', field: 'foo' }) } },
    },
  },
  queries: [
    { query: '{ b { id field } }', data: { b: { id: 'n1', field: 'foo' } } },
    { query: '{ b { id } }', data: { b: { id: 'n1' } } },
    { query: '{ a { field } }', data: { a: null }, errors: true },
    { query: '{ ok a { field } }', data: { ok: 1, a: null }, errors: true },
    { query: '{ ok other: a { field } }', data: { ok: 1, other: null }, errors: true },
    { query: '{ a { id } }', data: { a: null }, errors: true },
    { query: 'query ($no: Boolean = true) { ok a @skip(if: $no) { field } }', data: { ok: 1 } },
  ],
};

const AS = [
  { id: '1', pId: 'p1', compositeId: { one: '1', two: '1', three: '1' }, name: 'a.1' },
  { id: '2', pId: 'p2', compositeId: { one: '2', two: '2', three: '2' }, name: 'a.2' },
];
const KEYS: Suite = {
  name: 'several keys, some of which do not resolve',
  subgraphs: {
    a: {
      sdl: `
        type A
          @key(fields: "id", resolvable: true)
          @key(fields: "pId", resolvable: false)
          @key(fields: "compositeId { one two }", resolvable: false)
          @key(fields: "id compositeId { two three }", resolvable: false) {
          id: ID! pId: ID! compositeId: CompositeID! name: String!
        }
        type CompositeID { one: ID! two: ID! three: ID! }`,
      resolvers: {
        A: { __resolveReference: ({ id }: { id?: string }) => AS.find(one => one.id === id) ?? fail('only by id') },
      },
    },
    b: {
      sdl: `
        type Query { b: B }
        type B @key(fields: "id") { id: ID! a: [A!]! }
        type A
          @key(fields: "compositeId { one two }", resolvable: false)
          @key(fields: "id compositeId { two three }", resolvable: true)
          @key(fields: "pId", resolvable: false)
          @key(fields: "id", resolvable: false) {
          id: ID! pId: ID! compositeId: CompositeID! name: String! @external nameInB: String! @requires(fields: "name")
        }
        type CompositeID { one: ID! two: ID! three: ID! }`,
      resolvers: {
        Query: { b: () => ({ id: '100' }) },
        B: { a: () => AS.map(({ name: _name, ...one }) => one) },
        A: {
          __resolveReference: (one: any) => (one.compositeId?.two && one.compositeId.three && one.id ? one : fail('by the composite key')),
          nameInB: ({ name }: any) => `b.a.nameInB ${name}`,
        },
      },
    },
  },
  queries: [
    {
      query: '{ b { id a { id name nameInB } } }',
      data: {
        b: {
          id: '100',
          a: [
            { id: '1', name: 'a.1', nameInB: 'b.a.nameInB a.1' },
            { id: '2', name: 'a.2', nameInB: 'b.a.nameInB a.2' },
          ],
        },
      },
    },
  ],
};

function fail(why: string): never {
  throw new Error(why);
}

export const SUITES: readonly Suite[] = [REQUIRES_CONFLICT, INTERFACE_WITHOUT_TYPES, KEYS];
