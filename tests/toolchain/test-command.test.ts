import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** A suite of its own, so that nothing here depends on this one's results. */
let suite: string;

interface Run {
  code: number;
  lines: string[];
}

/** `npm test -- --root <suite>` without npm. */
async function run(cases: Record<string, string>, env: Record<string, string> = {}): Promise<Run> {
  await writeFile(join(suite, 'vitest.config.mjs'), "export default { test: { globals: true, include: ['*.case.mjs'] } };\n");
  for (const [name, source] of Object.entries(cases)) await writeFile(join(suite, `${name}.case.mjs`), source);
  const { VITEST: _, CI: __, ...outer } = process.env;
  const child = spawn(process.execPath, [join(ROOT, 'scripts/test.mjs'), '--root', suite], {
    env: { ...outer, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code: code as number, lines: output.trimEnd().split('\n') };
}

const PASSING = "test('one', () => {}); test('two', () => {});";
const FAILING = "test('three', () => expect(1).toBe(2));";

beforeEach(async () => {
  suite = await mkdtemp(join(tmpdir(), 'platform-suite-'));
});

afterEach(() => rm(suite, { recursive: true }));

test('a green run ends with its count and exit code 0', async () => {
  const { code, lines } = await run({ green: PASSING });
  expect([code, lines.at(-1)]).toEqual([0, '2 passed, 0 failed']);
});

test('a failed test is counted and makes the exit code 1', async () => {
  const { code, lines } = await run({ green: PASSING, red: FAILING });
  expect([code, lines.at(-1)]).toEqual([1, '2 passed, 1 failed']);
});

test('a file that cannot be imported counts as failed, although none of its tests ran', async () => {
  const { code, lines } = await run({ green: PASSING, broken: "import './absent.mjs';" });
  expect([code, lines.at(-1)]).toEqual([1, '2 passed, 1 failed']);
});

test('an error outside of every test counts as failed', async () => {
  const stray = "test('four', async () => { void Promise.reject(new Error('stray')); await new Promise(setImmediate); });";
  const { code, lines } = await run({ stray });
  expect([code, lines.at(-1)]).toEqual([1, '1 passed, 1 failed']);
});

test('a run without any test fails', async () => {
  const { code, lines } = await run({});
  expect([code, lines.at(-1)]).toEqual([1, '0 passed, 1 failed']);
});

test('a skipped test is told, and fails the run in CI', async () => {
  const skipped = { some: `${PASSING} test.skip('five', () => {});` };
  const here = await run(skipped);
  expect(here.lines.at(-2)).toContain('1 skipped');
  expect([here.code, here.lines.at(-1)]).toEqual([0, '2 passed, 0 failed']);
  const inCI = await run(skipped, { CI: 'true' });
  expect(inCI.lines.at(-2)).toContain('FAILED 1 skipped');
  expect([inCI.code, inCI.lines.at(-1)]).toEqual([1, '2 passed, 1 failed']);
});
