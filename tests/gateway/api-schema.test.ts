import { Supergraph } from '@apollo/federation-internals';
import { buildASTSchema, introspectionFromSchema, parse, printSchema, type GraphQLSchema } from 'graphql';
import { expect, test } from 'vitest';
import { apiDocument } from '../../gateway/plans/api-schema.js';
import { startGateway } from '../../gateway/plans/gateway.js';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { loadSupergraph } from '../../gateway/plans/supergraph.js';
import { createLogger } from '../../runtime/observe/log.js';
import { MORE_SUITES } from './federation/more-suites.js';
import { supergraphOf } from './federation/suite.js';
import { SUITES } from './federation/suites.js';

/** What clients see of a schema, in two ways. */
const seenOf = (schema: GraphQLSchema): unknown => [printSchema(schema), introspectionFromSchema(schema)];

const ofTheFederation = (sdl: string): GraphQLSchema =>
  Supergraph.build(sdl, { validateSupergraph: false }).apiSchema().toGraphQLJSSchema();

const ours = async (sdl: string): Promise<GraphQLSchema> => (await loadSupergraph(sdl, createLogger('silent'))).apiSchema;

/** What a client sees of every kind of definition, and what it does not. */
const EVERYTHING = {
  name: 'every kind of definition',
  subgraphs: {
    a: {
      sdl: `
        """Of a day."""
        scalar Day @specifiedBy(url: "https://days.invalid")
        directive @shown(as: String = "x") on QUERY | FIELD
        enum Colour { RED BLUE @deprecated(reason: "too cold") }
        interface Named { name: String }
        """A person"""
        type Person implements Named @key(fields: "id") {
          id: ID!
          """of the person"""
          name(in: Colour = RED, "how many" most: Int = 3): String @shareable @deprecated
          born: Day
        }
        type Pet implements Named { name: String }
        union Found = Person | Pet
        input Wanted { name: String = "x", colour: Colour @deprecated(reason: "later"), more: [Wanted!] }
        type Query { find(wanted: Wanted!): [Found!]! people: [Person] }
        type Mutation { add(wanted: Wanted): Person }`,
    },
    b: {
      sdl: `type Person @key(fields: "id") { id: ID! name(in: Colour = RED, most: Int = 3): String @shareable age: Int } enum Colour { RED BLUE } type Query { oldest: Person }`,
    },
  },
};

test('clients see of the suite what the federation derives from its supergraph', async () => {
  const sdl = await readSupergraph();
  expect(seenOf(await ours(sdl))).toEqual(seenOf(ofTheFederation(sdl)));
});

test.each([EVERYTHING, ...SUITES, ...MORE_SUITES])('clients see what the federation derives from a supergraph: $name', async suite => {
  const sdl = supergraphOf(suite);
  expect(seenOf(await ours(sdl))).toEqual(seenOf(ofTheFederation(sdl)));
});

const HEAD = (links: string): string => `
schema @link(url: "https://specs.apollo.dev/link/v1.0") @link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION) ${links} { query: Query }`;

test('what a link brings in is not seen under its own name, another name, or as an import', () => {
  const links = '@link(url: "https://a.invalid/rules/v1.0", import: ["@free"]) @link(url: "https://b.invalid/notes/v1.2", as: "n")';
  const document = parse(`${HEAD(links)}
    directive @free on FIELD_DEFINITION directive @rules on OBJECT directive @rules__x on OBJECT directive @n__y on OBJECT
    scalar n__Set scalar notes__Set scalar rules__Set scalar my__Own
    type Query { a: my__Own @free b: notes__Set }`);
  expect(printSchema(buildASTSchema(apiDocument(document)!))).toBe(
    'scalar notes__Set\n\nscalar my__Own\n\ntype Query {\n  a: my__Own\n  b: notes__Set\n}',
  );
});

test.each([
  ['hidden elements', `${HEAD('@link(url: "https://specs.apollo.dev/inaccessible/v0.2", for: SECURITY)')} type Query { a: ID }`],
  ['renamed imports', `${HEAD('@link(url: "https://a.invalid/rules/v1.0", import: [{name: "@free", as: "@own"}])')} type Query { a: ID }`],
  ['extensions', `${HEAD('')} type Query { a: ID } extend type Query { b: ID }`],
])('a supergraph with %s is left to the federation', (_what, sdl) => {
  expect(apiDocument(parse(sdl))).toBeNull();
});

test('a text from elsewhere that the federation cannot read is refused before it serves, though its planner is made later', async () => {
  const source = (): never => {
    throw new Error('not asked for');
  };
  const setting = { source, executor: 'compiled', log: createLogger('silent') } as const;
  await expect(startGateway({ ...setting, supergraphSdl: 'type Query { a: ID }' })).rejects.toThrow(/core schema/);
});
