import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STATEMENTS } from './loop-statements.js';
import { ROOT } from './sources.js';

/** A test's title as it stands in its file, in either quotes. */
const titled = (title: string): RegExp =>
  new RegExp(`\\btest(\\.each\\([\\s\\S]*?\\))?\\(\\s*['"]${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}['"]`);

test.each(STATEMENTS)('$section: $statement', ({ proof: [file, title] }) => {
  expect(readFileSync(join(ROOT, 'tests', file), 'utf8')).toMatch(titled(title));
});

test('every numbered statement on the loop and on the re-test cycle has a proof', () => {
  const sections = new Set(STATEMENTS.map(({ section }) => section));
  for (let number = 1; number <= 7; number++) expect(sections).toContain(`Intelligence loop ${number}`);
  for (let number = 1; number <= 8; number++) expect(sections).toContain(`Re-test cycle ${number}`);
});
