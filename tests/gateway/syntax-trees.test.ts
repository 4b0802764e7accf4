import { ApolloGateway } from '@apollo/gateway';
import { buildASTSchema, parse, Token } from 'graphql';
import { expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/compose.js';
import { dropSyntaxTrees } from '../../gateway/plans/compiled/syntax-trees.js';

/** How many tokens of a text can be reached from an object. */
function tokensFrom(root: object): number {
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
  return [...seen].filter(one => one instanceof Token).length;
}

test('a loaded gateway keeps no token of its supergraph', async () => {
  const sdl = await readSupergraph();
  const service = { process: () => Promise.reject(new Error('nobody asks')) };
  const gateway = new ApolloGateway({ supergraphSdl: sdl, validateSupergraph: false, buildService: () => service });
  await gateway.load();
  expect(tokensFrom(gateway)).toBeGreaterThan(100_000);
  dropSyntaxTrees(gateway, buildASTSchema(parse(sdl, { noLocation: true }), { assumeValid: true }));
  expect(tokensFrom(gateway)).toBe(0);
});
