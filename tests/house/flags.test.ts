import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stageOfFlag } from '../../subgraphs/intelligence/rules/gate.js';
import { sharedPlatform } from '../support/platform.js';
import { ROOT, sourcesIn } from './sources.js';

const FLAG = /_FLAG = '(feature\.[a-z]+\.[a-z-]+)'/g;

/** What code does without an answer: a boolean is off, the stage is the first. */
const codeDefault = (key: string): unknown => (key === 'feature.intelligence.stage' ? stageOfFlag(null).toUpperCase() : false);

/** Keys of all flags that services ask for. */
async function called(): Promise<string[]> {
  const files = ['gateway', 'runtime', 'rest-adapter', 'subgraphs']
    .flatMap(sourcesIn)
    .filter(file => !file.startsWith('subgraphs/platform/'));
  const texts = await Promise.all(files.map(file => readFile(join(ROOT, file), 'utf8')));
  return [...new Set(texts.flatMap(text => [...text.matchAll(FLAG)].map(found => found[1]!)))].sort();
}

test('every flag that code asks for exists, and one that fails closed has the off value that the code takes without an answer', async () => {
  const p = await sharedPlatform();
  const rows = await p.sql<{ key: string; off: unknown; fail_closed: boolean }>(
    `select key, fail_closed, (select v->'value' from jsonb_array_elements(variants) v where v->>'name' = off_variant) as off from platform.flag`,
  );
  const keys = await called();
  expect(keys).toContain('feature.clinical.retest-cycle');
  for (const key of keys)
    expect(
      rows.find(row => row.key === key),
      key,
    ).toMatchObject({ fail_closed: true, off: codeDefault(key) });
}, 120_000);
