/**
 * What the gateway itself costs: the compiled executor against the stock one on four services whose answers come from a table, so
 * neither sockets nor resolvers count. Shows µs of one request and the ratio, medians of interleaved rounds.
 *
 *   npm run bench:engine                 three rounds
 *   npm run bench:engine -- --rounds 1
 */
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { parseArgs } from 'node:util';
import { startGateway } from '../dist/gateway/plans/gateway.js';
import { keyOf } from '../dist/gateway/plans/executor.js';
import { internalRequest } from '../dist/runtime/request/request.js';
import { ANONYMOUS } from '../dist/runtime/request/caller.js';
import { tableSource } from './table-source.mjs';

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const ROUNDS = Number(flags.rounds);
const ROUND_MS = 700;

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires", "@shareable", "@provides"])';
const range = count => Array.from({ length: count }, (_, at) => at);
const user = id => ({ id: String(id), name: `User ${id}`, username: `@user${id}` });
const product = upc => ({ upc: String(upc), name: `Product number ${upc}`, price: upc * 13, weight: upc * 7 });
const review = id => ({
  id: String(id),
  body: `A review of medium length, number ${id}`,
  product: { upc: String(id % 20) },
  author: { id: String(id % 6), username: `@user${id % 6}` },
});
const reviewsOf = number => range(3).map(at => review(Number(number) * 3 + at));

const SERVICES = {
  accounts: {
    sdl: 'type Query { user(id: ID!): User users: [User] } type User @key(fields: "id") { id: ID! name: String username: String @shareable }',
    resolvers: {
      Query: { user: (_, { id }) => user(id), users: () => range(6).map(user) },
      User: { __resolveReference: ({ id }) => user(id) },
    },
  },
  products: {
    sdl: 'type Query { topProducts(first: Int): [Product] } type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }',
    resolvers: {
      Query: { topProducts: (_, { first }) => range(first).map(product) },
      Product: { __resolveReference: ({ upc }) => product(Number(upc)) },
    },
  },
  inventory: {
    sdl: 'type Product @key(fields: "upc") { upc: String! price: Int @external weight: Int @external inStock: Boolean shippingEstimate: Int @requires(fields: "price weight") }',
    resolvers: {
      Product: { inStock: ({ upc }) => upc % 2 === 0, shippingEstimate: ({ price, weight }) => Math.round(price * weight * 0.5) },
    },
  },
  reviews: {
    sdl: `type Review @key(fields: "id") { id: ID! body: String product: Product author: User @provides(fields: "username") }
      type User @key(fields: "id") { id: ID! username: String @external reviews: [Review] } type Product @key(fields: "upc") { upc: String! reviews: [Review] }`,
    resolvers: {
      User: { reviews: ({ id }) => reviewsOf(id) },
      Product: { reviews: ({ upc }) => reviewsOf(upc) },
      Review: { __resolveReference: ({ id }) => review(Number(id)) },
    },
  },
};

const PRODUCT = 'upc name price weight inStock shippingEstimate';
const WORKS = {
  one: { source: 'query One($n: Int) { topProducts(first: $n) { upc name price weight } }', variables: () => ({ n: 20 }) },
  point: {
    source: 'query Point($id: ID!) { user(id: $id) { id name username reviews { id body product { upc name price inStock } } } }',
    variables: at => ({ id: String(at % 6) }),
  },
  page: {
    source:
      'query Page($n: Int) { topProducts(first: $n) { upc name price inStock shippingEstimate reviews { id body author { id name username } } } }',
    variables: () => ({ n: 5 }),
  },
  wide: {
    source: `{ users { id name username reviews { id body product { ${PRODUCT} reviews { id body author { id name reviews { id body product { ${PRODUCT} } } } } } } }
      topProducts(first: 5) { ${PRODUCT} reviews { id body author { id name reviews { id body product { ${PRODUCT} } } } } } }`,
    variables: () => ({}),
  },
};

const schemaOf = ({ sdl, resolvers }) => buildSubgraphSchema([{ typeDefs: parse(LINK + sdl), resolvers }]);

async function start(executor) {
  const { supergraphSdl, errors } = composeServices(
    Object.entries(SERVICES).map(([name, { sdl }]) => ({ name, typeDefs: parse(LINK + sdl), url: `http://${name}.invalid` })),
  );
  if (errors) throw new Error(errors.map(error => error.message).join('; '));
  return startGateway({ supergraphSdl, source: name => tableSource(() => schemaOf(SERVICES[name])), executor, log: console });
}

/** µs of CPU for one request, JSON text of the answer included. */
async function measure({ executor }, { operation, variables }) {
  const request = internalRequest(ANONYMOUS);
  const run = async at => {
    const result = await executor.execute({ ...operation, variables: variables(at) }, request);
    if (result.errors.length) throw result.errors[0];
    return result.text ?? JSON.stringify(result.data);
  };
  for (let at = 0; at < 50; at++) await run(at);
  const [before, until] = [process.cpuUsage(), performance.now() + ROUND_MS];
  let count = 0;
  while (performance.now() < until) for (let at = 0; at < 10; at++) await run(count++);
  const { user: us, system } = process.cpuUsage(before);
  return (us + system) / count;
}

const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

const gateways = { stock: await start('stock'), compiled: await start('compiled') };
process.stdout.write('| work | stock µs | compiled µs | ratio |\n| --- | --- | --- | --- |\n');
for (const [name, { source, variables }] of Object.entries(WORKS)) {
  const work = { operation: { document: parse(source), source, key: keyOf(source), operationName: null }, variables };
  const seen = { stock: [], compiled: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const which of ['stock', 'compiled']) seen[which].push(await measure(gateways[which], work));
  const [stock, compiled] = [median(seen.stock), median(seen.compiled)];
  process.stdout.write(`| ${name} | ${stock.toFixed(0)} | ${compiled.toFixed(0)} | ${(stock / compiled).toFixed(1)} |\n`);
}
await Promise.all(Object.values(gateways).map(gateway => gateway.stop()));
