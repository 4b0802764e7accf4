import { expect, test } from 'vitest';
import { importsOf, ROOMS, sourcesIn } from './sources.js';

/** `subgraphs/clinical` for a service's file, else the first folder. `subgraphs/services.ts` is a room of its own. */
const roomOf = (path: string): string => {
  const [first, second] = path.split('/');
  return first === 'subgraphs' ? `subgraphs/${second}` : first!;
};

const LIST = 'subgraphs/services.js';

/** Where each room may go besides itself, as prefixes of paths. Source: architecture 2. */
const TABLE: Record<string, readonly string[]> = {
  events: [],
  runtime: ['events/'],
  'rest-adapter': ['runtime/', 'events/slugs.js'],
  subgraphs: ['runtime/', 'events/'],
  gateway: ['runtime/', 'events/', 'rest-adapter/', 'subgraphs/'],
  migrations: ['runtime/', 'events/', 'rest-adapter/', 'subgraphs/', 'gateway/'],
};

/** What the decisions of a service may know. */
const rulesMayImport = (service: string, target: string): boolean =>
  target === 'runtime/lazy.js' ||
  target === 'runtime/request/errors.js' ||
  target === 'runtime/request/states.js' ||
  target === 'runtime/http/public-address.js' ||
  target === 'runtime/http/outside-url.js' ||
  target === 'runtime/time/durations.js' ||
  target.startsWith(`${service}/entities`) ||
  target.startsWith(`${service}/rules`);

/** Whether the table lets a file import another file of the checkout. */
function mayImport(file: string, target: string): boolean {
  const room = roomOf(file);
  if (/^subgraphs\/[^/]+\/rules[./]/.test(file)) return rulesMayImport(room, target);
  if (target === LIST) return file === 'gateway/composition/start.ts' || file === 'gateway/compose.ts';
  if (file === 'subgraphs/services.ts' && /^subgraphs\/[^/]+\/index\.js$/.test(target)) return true;
  return roomOf(target) === room || TABLE[room.split('/')[0]!]!.some(prefix => target.startsWith(prefix));
}

test('every import stays within the table of architecture 2', () => {
  const forbidden = ROOMS.flatMap(sourcesIn).flatMap(file =>
    importsOf(file)
      .filter(target => !mayImport(file, target))
      .map(target => `${file} imports ${target}`),
  );
  expect(forbidden).toEqual([]);
});

test.each([
  ['events/relay.ts', 'runtime/observe/log.js'],
  ['runtime/flags/evaluation.ts', 'subgraphs/platform/entities.js'],
  ['subgraphs/clinical/resolver.ts', 'subgraphs/labs/entities.js'],
  ['subgraphs/clinical/resolver/cycle.ts', 'gateway/limits/limits.js'],
  ['subgraphs/clinical/rules.ts', 'runtime/time/clock.js'],
  ['subgraphs/clinical/rules/cycle.ts', 'subgraphs/clinical/ports/lab.js'],
  ['rest-adapter/server.ts', 'events/outbox.js'],
  ['rest-adapter/server.ts', 'gateway/plans/executor.js'],
  ['gateway/plans/executor.ts', LIST],
  ['gateway/composition/start.ts', 'migrations/events/202611211200_tables.js'],
  ['gateway/composition/start.ts', 'tests/support/platform.js'],
])('%s may not import %s', (file, target) => {
  expect(mayImport(file, target)).toBe(false);
});

test.each([
  ['events/catalogue/clinical.ts', 'events/define.js'],
  ['runtime/outbox.ts', 'events/slugs.js'],
  ['subgraphs/clinical/rules/cycle.ts', 'subgraphs/clinical/entities/cycle.js'],
  ['subgraphs/services.ts', 'subgraphs/clinical/index.js'],
  ['rest-adapter/routes/clinical.ts', 'rest-adapter/route.js'],
  ['gateway/composition/start.ts', LIST],
])('%s may import %s', (file, target) => {
  expect(mayImport(file, target)).toBe(true);
});
