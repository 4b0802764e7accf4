import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CATALOGUE } from '../../events/catalogue.js';
import type { Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { ROOT, sourcesIn } from './sources.js';
import { declarations } from './composition.js';
import { PENDING_EVENTS, PENDING_SERVICES } from './pending.js';

const sources = ['subgraphs', 'runtime', 'gateway', 'events']
  .flatMap(sourcesIn)
  .filter(file => !file.startsWith('events/catalogue'))
  .map(file => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');

/** Exported constant of each declaration: `export const retestPrompted = defineEvent('clinical.retest.prompted.v1', …`. */
const constants = new Map(
  sourcesIn('events/catalogue').flatMap(file =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/export const (\w+) = defineEvent\(\s*'([^']+)'/g)].map(
      match => [match[2]!, match[1]!] as const,
    ),
  ),
);

const used = (name: string): boolean => new RegExp(`\\b${constants.get(name)}\\b`).test(sources) || sources.includes(`'${name}'`);
const events = [...CATALOGUE.values()];

test('every declared event is emitted or consumed somewhere, or its owner does not exist yet, or it stands in pending.ts', () => {
  const idle = events.filter(({ name, owner }) => !PENDING_SERVICES.includes(owner) && !used(name)).map(({ name }) => name);
  expect(idle.sort()).toEqual([...PENDING_EVENTS].sort());
});

test('every declaration of the catalogue is in the catalogue, in the file of its owner', () => {
  expect([...CATALOGUE.keys()].sort()).toEqual([...constants.keys()].sort());
  const misplaced = events.filter(
    ({ name, owner }) => !readFileSync(join(ROOT, `events/catalogue/${owner}.ts`), 'utf8').includes(`defineEvent('${name}'`),
  );
  expect(misplaced.map(({ name }) => name)).toEqual([]);
});

test('a service consumes only types that name it as a consumer', () => {
  const expected = ({ consumers, scope }: (typeof events)[number]): readonly string[] => [...consumers, ...(scope ? ['webhooks'] : [])];
  const namesOf = ({ on }: Consumer<Context>): readonly string[] =>
    Array.isArray(on) ? on.map(handler => handler.definition!.name) : Object.keys(on);
  const surprising = declarations.flatMap(({ slug, consumers = [] }) =>
    consumers
      .flatMap(namesOf)
      .filter(name => !expected(CATALOGUE.get(name)!).includes(slug))
      .map(name => `${slug}: ${name}`),
  );
  expect(surprising).toEqual([]);
});
