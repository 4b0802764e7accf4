/**
 * Services of which there may be any number: service i owns `Query.r<i>`, twenty types of its own, and of the entity `Node` the fields
 * `f<i>`, `g<i>` and `link<i>`, another node.
 */
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])';
const TYPES = 20;
export const range = count => Array.from({ length: count }, (_, at) => at);

const ownType = (service, at) =>
  `type T${service}x${at} @key(fields: "id") { id: ID! a: String b: Int c: [T${service}x${(at + 1) % TYPES}] d: String e: Float }`;

export const nameOf = service => `s${service}`;

export const sdlOf = service => `${LINK}
  type Query { r${service}(n: Int = 3): [Node] t${service}: T${service}x0 }
  type Node @key(fields: "id") { id: ID! f${service}: String g${service}: Int link${service}: Node }
  ${range(TYPES)
    .map(at => ownType(service, at))
    .join('\n')}`;

const resolversOf = service => ({
  Query: { [`r${service}`]: (_, { n }) => range(n).map(at => ({ id: `n${at}` })) },
  Node: {
    __resolveReference: reference => reference,
    [`f${service}`]: ({ id }) => `f${service} of ${id}`,
    [`g${service}`]: () => service,
    [`link${service}`]: ({ id }) => ({ id: `${id}.${service}` }),
  },
});

export const schemaOf = service => buildSubgraphSchema([{ typeDefs: parse(sdlOf(service)), resolvers: resolversOf(service) }]);

/** A chain of nodes over the services in turn, each a fetch that waits for the one before. */
const below = (depth, services) => {
  const at = depth % services;
  return depth === 0 ? 'id f0' : `f${at} link${at} { ${below(depth - 1, services)} }`;
};

/** A query of so many fetches, one after the other. */
export const chainOf = (fetches, services) =>
  fetches === 1 ? '{ r0 { id f0 g0 } }' : `{ r${(fetches - 1) % services} { ${below(fetches - 1, services)} } }`;
