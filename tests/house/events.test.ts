import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CATALOGUE } from '../../events/catalogue.js';
import { ROOT, sourcesIn } from './sources.js';
import { PENDING_EVENTS } from './pending.js';

const sources = ['subgraphs', 'runtime', 'gateway', 'events'].flatMap(sourcesIn).filter(file => !file.startsWith('events/catalogue'))
  .map(file => readFileSync(join(ROOT, file), 'utf8')).join('\n');

/** Exported constant of each declaration: `export const retestPrompted = defineEvent('clinical.retest.prompted.v1', …`. */
const constants = new Map(sourcesIn('events/catalogue').flatMap(file =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/export const (\w+) = defineEvent\(\s*'([^']+)'/g)].map(match => [match[2]!, match[1]!] as const)));

test('every declared event is emitted or consumed somewhere, or stands in pending.ts', () => {
  const used = (name: string): boolean => new RegExp(`\\b${constants.get(name)}\\b`).test(sources) || sources.includes(`'${name}'`);
  const idle = [...CATALOGUE.keys()].filter(name => !used(name));
  expect(idle.sort()).toEqual([...PENDING_EVENTS].sort());
});

test('every declaration of the catalogue is in the catalogue', () => {
  expect([...CATALOGUE.keys()].sort()).toEqual([...constants.keys()].sort());
});
