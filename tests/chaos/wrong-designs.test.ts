import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMERCE_FAULTS } from './commerce/faults.js';
import { SEAT_FAULTS } from './live/faults.js';
import { MESSAGE_FAULTS } from './messages/faults.js';
import { MONEY_FAULTS } from './money/faults.js';
import { WRONG_DESIGNS } from './wrong-designs.js';

const DIST = join(import.meta.dirname, '../../dist');

const all = [
  ...Object.entries(WRONG_DESIGNS).map(([name, { patches }]) => [name, patches] as const),
  ...Object.entries(MONEY_FAULTS),
  ...Object.entries(COMMERCE_FAULTS),
  ...Object.entries(SEAT_FAULTS),
  ...Object.entries(MESSAGE_FAULTS),
];

test.each(all)('the wrong design "%s" still has its place in the build', async (_name, patches) => {
  for (const { module, find } of patches) expect((await readFile(join(DIST, module), 'utf8')).split(find), module).toHaveLength(2);
});
