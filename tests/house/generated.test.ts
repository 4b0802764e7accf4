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

test.each([...files.keys()])('%s is fresh: npm run generate changes nothing', path => {
  expect(checkedIn(path) === files.get(path), `${path} is stale: run npm run generate`).toBe(true);
});

test.each(GENERATED_FOLDERS)('%s holds nothing that is no longer generated', folder => {
  expect(readdirSync(join(ROOT, folder)).filter(file => !files.has(folder + file))).toEqual([]);
});
