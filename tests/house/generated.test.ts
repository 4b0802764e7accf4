import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generated, GENERATED_FOLDERS } from '../../gateway/documents/generate.js';
import { ROOT } from './sources.js';

const files = await generated();
const checkedIn = (path: string): string | null => {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    return null;
  }
};

/** The first line that differs, as it is checked in and as it is generated; of the whole nobody wants to read the difference. */
function firstDifference(path: string): (string | undefined)[] | null {
  const [kept, made] = [checkedIn(path), files.get(path)].map(text => text?.split('\n') ?? []) as [string[], string[]];
  const at = made.findIndex((line, index) => kept[index] !== line);
  return at >= 0 ? [kept[at], made[at]] : kept.length > made.length ? [kept[made.length], undefined] : null;
}

test.each([...files.keys()])('%s is fresh: npm run generate changes nothing', path => {
  expect(firstDifference(path), `${path} is stale: run npm run generate`).toBeNull();
});

test.each(GENERATED_FOLDERS)('%s holds nothing that is no longer generated', folder => {
  expect(readdirSync(join(ROOT, folder)).filter(file => !files.has(folder + file))).toEqual([]);
});
