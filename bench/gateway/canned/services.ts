/** The four canned services: their SDL, with and without our access rules, and resolvers that only look things up. */
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse, type GraphQLSchema } from 'graphql';
import * as data from './data.ts';

const IMPORTS = '"@key", "@shareable", "@external", "@requires", "@provides"';
const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: [${IMPORTS}, "@composeDirective"])`;
/** As every service of the platform links them. */
const RULES = `${LINK} @link(url: "https://platform.example/access/v1.0", import: ["@access"]) @composeDirective(name: "@access")
  directive @access(public: Boolean) on FIELD_DEFINITION`;
const PUBLIC = '@access(public: true)';

/** `RULE` is replaced by the access rule that our gateway needs on a public root field. */
const TYPES = {
  accounts: `
    type Query { me: User RULE user(id: ID!): User RULE users: [User] RULE }
    type User @key(fields: "id") { id: ID! name: String username: String @shareable birthday: Int }`,
  products: `
    type Query { topProducts(first: Int = 5): [Product] RULE product(upc: String!): Product RULE }
    type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }`,
  inventory: `
    type Product @key(fields: "upc") {
      upc: String! price: Int @external weight: Int @external inStock: Boolean shippingEstimate: Int @requires(fields: "price weight")
    }`,
  reviews: `
    type Review @key(fields: "id") { id: ID! body: String product: Product author: User @provides(fields: "username") }
    type User @key(fields: "id") { id: ID! username: String @external reviews: [Review] }
    type Product @key(fields: "upc") { upc: String! reviews: [Review] }`,
} as const;

export type Name = keyof typeof TYPES;
export const NAMES = Object.keys(TYPES) as Name[];

/** SDL as anybody's gateway reads it. */
export const plainSdl = (name: Name): string => `${LINK}\n${TYPES[name].replaceAll('RULE', '')}`;

/** SDL as ours wants it: an operation without a rule is refused there. */
export const ruledSdl = (name: Name): string => `${RULES}\n${TYPES[name].replaceAll('RULE', PUBLIC)}`;

type Resolvers = Record<string, Record<string, (parent: any, args: any) => unknown>>;
const itself = <T>(reference: T): T => reference;

const RESOLVERS: Record<Name, Resolvers> = {
  accounts: {
    Query: { me: () => data.users[0], user: (_, { id }) => data.userById.get(id), users: () => data.users.slice(0, 6) },
    User: { __resolveReference: ({ id }) => data.userById.get(id) },
  },
  products: {
    Query: {
      topProducts: (_, { first }) => data.products.slice(0, first ?? 5),
      product: (_, { upc }) => data.productByUpc.get(upc),
    },
    Product: { __resolveReference: ({ upc }) => data.productByUpc.get(upc) },
  },
  inventory: {
    Product: {
      __resolveReference: itself,
      inStock: ({ upc }) => data.stockByUpc.get(upc)?.inStock,
      shippingEstimate: ({ price, weight }) => (price == null ? null : data.shippingEstimate(price, weight)),
    },
  },
  reviews: {
    Review: {
      __resolveReference: ({ id }) => data.reviewById.get(id),
      product: ({ upc }) => ({ upc }),
      author: ({ userId }) => ({ id: userId, username: data.userById.get(userId)?.username }),
    },
    User: { __resolveReference: itself, reviews: ({ id }) => data.reviewsOfUser(id) },
    Product: { __resolveReference: itself, reviews: ({ upc }) => data.reviewsOfProduct(upc) },
  },
};

/** An executable service. Its resolvers check no access, so that all gateways run the same resolvers. */
export const schemaOf = (name: Name): GraphQLSchema =>
  buildSubgraphSchema([{ typeDefs: parse(ruledSdl(name)), resolvers: RESOLVERS[name] as never }]);
