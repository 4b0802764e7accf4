import { expect, test } from 'vitest';
import { importsOf, sourcesIn } from '../house/sources.js';

/** Steps of the gateway's rooms: a file may import its own room and those of lower steps. `top`: main.ts and compose.ts. */
const STEPS = [['plans'], ['sources', 'limits', 'metrics', 'pages'], ['endpoints'], ['documents', 'composition'], ['top']];

/** Reads the checked-in supergraph and composes a new one; knows no room. */
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
