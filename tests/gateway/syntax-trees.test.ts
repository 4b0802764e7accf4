import { Supergraph } from '@apollo/federation-internals';
import { buildASTSchema, parse, Token, type GraphQLSchema } from 'graphql';
import { expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { dropSyntaxTrees } from '../../gateway/plans/compiled/syntax-trees.js';
import { loadSupergraph } from '../../gateway/plans/supergraph.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { SERVICES } from '../../subgraphs/services.js';
import { keepRules } from '../../runtime/schema/syntax-trees.js';
import { constraintOf } from '../../runtime/schema/violations.js';
import { ruleOnNode } from '../../runtime/access/rules.js';
import { createLogger } from '../../runtime/observe/log.js';

/** How many objects that are wanted can be reached from an object. */
function reachedFrom(root: object, isWanted: (one: object) => boolean): number {
  const [seen, open] = [new Set<object>([root]), [root]];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    open.push(value);
  };
  for (let one = open.pop(); one; one = open.pop()) {
    if (one instanceof Map) for (const entry of one) entry.forEach(visit);
    if (one instanceof Set) one.forEach(visit);
    for (const name of Reflect.ownKeys(one)) visit(Object.getOwnPropertyDescriptor(one, name)!.value);
  }
  return [...seen].filter(isWanted).length;
}

const isToken = (one: object): boolean => one instanceof Token;
const isTree = (one: object): boolean => 'kind' in one && String(one.kind).endsWith('Definition');

test('a schema of the planner keeps no token of its text', async () => {
  const { schema } = Supergraph.build(await readSupergraph(), { validateSupergraph: false });
  expect(reachedFrom(schema, isToken)).toBeGreaterThan(100_000);
  dropSyntaxTrees([schema]);
  expect(reachedFrom(schema, isToken)).toBe(0);
});

test('a loaded supergraph keeps no token and no syntax tree of a definition', async () => {
  const { apiSchema, supergraph } = await loadSupergraph(await readSupergraph(), createLogger('silent'));
  for (const kept of [apiSchema, supergraph]) expect([reachedFrom(kept, isToken), reachedFrom(kept, isTree)]).toEqual([0, 0]);
});

/** Rules and constraints of the operations and of all inputs. */
const rulesOf = (schema: GraphQLSchema): unknown[] =>
  Object.values(schema.getTypeMap()).flatMap(type =>
    'getFields' in type
      ? Object.values(type.getFields()).map(field => [
          ruleOnNode(field.astNode),
          'args' in field ? field.args.map(constraintOf) : constraintOf(field),
        ])
      : [],
  );

test('a schema without its syntax trees keeps the rules of access and the constraints', async () => {
  const schema = buildASTSchema(parse(await readSupergraph(), { noLocation: true }), { assumeValid: true });
  const before = rulesOf(schema);
  keepRules(schema);
  expect(rulesOf(schema)).toEqual(before);
  expect(JSON.stringify(before)).toMatch(/"staff":.*"maxLength":|"maxLength":.*"staff":/);
});

test('equal rules of a schema are one object, and what nothing extends has no object of its own', async () => {
  const { supergraph } = await loadSupergraph(await readSupergraph(), createLogger('silent'));
  const fields = Object.values(supergraph.getTypeMap()).flatMap(type => ('getFields' in type ? Object.values(type.getFields()) : []));
  const kept = fields.flatMap(({ astNode }) => astNode ?? []);
  expect(new Set(kept).size).toBe(new Set(kept.map(node => JSON.stringify(node))).size);
  expect(new Set(fields.map(({ extensions }) => extensions)).size).toBe(1);
});

test('the executable schema of a service keeps no syntax tree of a definition', async () => {
  const declaration = await SERVICES.clinical!();
  expect(reachedFrom(buildSubgraph(declaration), isTree)).toBe(0);
});

test('a supergraph is Latin-1 text: one other character would make each of its million take two bytes', async () => {
  const others = (await readSupergraph()).match(/[\u0100-\uffff]/g);
  expect(others).toBeNull();
});
