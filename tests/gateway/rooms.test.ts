import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf, sourcesIn, textOf } from '../house/sources.js';

/** Steps of the gateway's rooms: a file may import its own room and those of lower steps. `top`: main.ts and compose.ts. */
const STEPS = [['plans'], ['sources', 'limits', 'metrics', 'pages'], ['endpoints'], ['documents', 'composition'], ['top']];

/** Composes the supergraph, which documents are made of; runs by itself, too. */
const COMPOSE = 'gateway/compose.js';

const roomOf = (path: string): string => (path.split('/').length > 2 ? path.split('/')[1]! : 'top');
const stepOf = (room: string): number => STEPS.findIndex(step => step.includes(room));

const mayImport = (from: string, target: string): boolean =>
  target === COMPOSE || roomOf(target) === roomOf(from) || stepOf(roomOf(target)) < stepOf(roomOf(from));

test('every folder of the gateway is a room with a step', () => {
  expect([...new Set(sourcesIn('gateway').map(roomOf))].filter(room => stepOf(room) < 0)).toEqual([]);
});

test('inside the gateway arrows point one way', () => {
  const wrong = sourcesIn('gateway').flatMap(file =>
    importsOf(file)
      .filter(target => target.startsWith('gateway/') && !mayImport(file, target))
      .map(target => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test.each([
  ['gateway/plans/gateway.ts', 'gateway/endpoints/graphql.js'],
  ['gateway/limits/limits.ts', 'gateway/metrics/scope-usage.js'],
  ['gateway/endpoints/rest.ts', 'gateway/composition/platform.js'],
])('%s may not import %s', (file, target) => {
  expect(mayImport(file, target)).toBe(false);
});

/** What a file loads when it is loaded, packages by name: neither types nor what it imports at its first use. */
const loadedBy = (file: string): string[] =>
  [...textOf(file).matchAll(/^(?:import|export) (?!type\b)(?:[^;]*? from )?'([^']+)';/gm)].map(([, name]) =>
    name!.startsWith('.') ? posix.join(posix.dirname(file), name!).replace(/\.js$/, '.ts') : name!,
  );

/** Everything that is loaded with some files. */
function loadedWith(...files: string[]): Set<string> {
  const all = new Set(files);
  for (const file of all) if (file.endsWith('.ts')) loadedBy(file).forEach(one => all.add(one));
  return all;
}

/** What only services need, and the stock executor, take 60 MB. */
test.each([
  /^@mikro-orm/,
  /^type-graphql$/,
  /^yaml$/,
  /^pg-boss$/,
  /^zod$/,
  /^amqplib$/,
  /^@openfeature/,
  /^@apollo\/(gateway|composition|subgraph)$/,
  /^subgraphs\/(?!services)/,
])('a process with gateway and REST alone loads no %s', name => {
  const loaded = loadedWith('gateway/composition/start.ts', 'gateway/composition/gateway-endpoints.ts');
  expect(loaded.has('gateway/plans/supergraph.ts') && loaded.has('@apollo/query-planner')).toBe(true);
  expect([...loaded].filter(one => name.test(one))).toEqual([]);
});
