import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** A checkout of its own: this one's set-up, packages and options, and one source file. */
let checkout: string;

const at = (...path: string[]): string => join(checkout, ...path);

/** Runs the set-up; without npm on the PATH, so that what it would download shows as a failure. */
function setup(): { status: number | null; output: string } {
  const env = { PATH: at('node_modules/.bin'), HOME: checkout };
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('scripts/setup.mjs')], { env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** Makes a folder whose entries are this checkout's, but for some. */
async function link(folder: string, without: string[]): Promise<void> {
  await mkdir(at(folder), { recursive: true });
  for (const name of readdirSync(join(ROOT, folder)).filter(entry => !without.includes(entry)))
    await symlink(join(ROOT, folder, name), at(folder, name));
}

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'platform-setup-'));
  for (const folder of ['scripts', 'migrations/jobs']) await mkdir(at(folder), { recursive: true });
  for (const file of ['scripts/setup.mjs', 'scripts/packages.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'])
    await copyFile(join(ROOT, file), at(file));
  await link('node_modules', ['.cache', '.setup-stamp', '.bin']);
  await link('node_modules/.bin', []);
  await writeFile(at('migrations/jobs/202611210000_first.ts'), 'export const first = 1;\n');
});

afterEach(() => rm(checkout, { recursive: true }));

test('packages that npm has already installed by the lock file are compiled with at once', async () => {
  expect(setup()).toEqual({ status: 0, output: '' });
  expect(await readFile(at('dist/migrations/jobs/202611210000_first.js'), 'utf8')).toContain('first = 1');
  expect(setup()).toEqual({ status: 0, output: '' });
});

test('the packaged Node is linked again where npm 10 has removed its link', async () => {
  const before = readlinkSync(join(ROOT, 'node_modules/.bin/node'));
  await rm(at('node_modules/.bin/node'));
  expect(setup()).toEqual({ status: 0, output: '' });
  expect(readlinkSync(at('node_modules/.bin/node'))).toBe(before);
});

test('a lock file that node_modules does not hold is installed before anything else', async () => {
  const lock = await readFile(at('package-lock.json'), 'utf8');
  await writeFile(at('package-lock.json'), lock.replace(/("node_modules\/pg": \{\s+"version": ")[^"]+/, '$10.0.1'));
  const { status, output } = setup();
  expect(output).toMatch(/installing the packages[^]*npm could not be run/);
  expect([status, existsSync(at('dist')), existsSync(at('node_modules/.setup-stamp'))]).toEqual([1, false, false]);
});

test('a changed lock file after a finished set-up is installed again', async () => {
  setup();
  const lock = await readFile(at('package-lock.json'), 'utf8');
  await writeFile(at('package-lock.json'), lock.replace(/("node_modules\/pg": \{\s+"version": ")[^"]+/, '$10.0.1'));
  expect(setup().output).toContain('installing the packages');
});

test('a migration whose source was deleted does not stay in dist', async () => {
  setup();
  await rm(at('migrations/jobs/202611210000_first.ts'));
  await writeFile(at('migrations/jobs/202611210001_second.ts'), 'export const second = 2;\n');
  expect(setup().status).toBe(0);
  expect(readdirSync(at('dist/migrations/jobs')).filter(name => !name.endsWith('.map'))).toEqual(['202611210001_second.js']);
});

test('a compiled file that was deleted is made again', async () => {
  setup();
  await rm(at('dist/migrations/jobs/202611210000_first.js'));
  setup();
  expect(existsSync(at('dist/migrations/jobs/202611210000_first.js'))).toBe(true);
});

test('code that does not compile ends the set-up with the error and exit code 1', async () => {
  await writeFile(at('migrations/jobs/202611210001_broken.ts'), "export const broken: number = 'text';\n");
  const { status, output } = setup();
  expect(status).toBe(1);
  expect(output).toMatch(/202611210001_broken\.ts.*TS2322[^]*does not compile/);
});
