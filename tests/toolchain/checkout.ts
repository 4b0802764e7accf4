import { readdirSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
/** What a clone does not have, and what is linked. */
const MADE = ['node_modules', 'dist', '.data', '.git', 'coverage'];
/** What the set-up writes into node_modules: a checkout has its own. */
const OWN = ['.cache', '.setup-stamp', '.bin'];

async function linkAll(from: string, to: string, without: readonly string[] = []): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of readdirSync(from).filter(entry => !without.includes(entry))) await symlink(join(from, name), join(to, name));
}

/** Makes a checkout of its own, as if just cloned and its packages installed; these are linked. @returns its folder. */
export async function freshCheckout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-checkout-'));
  await chmod(folder, 0o755); // as root, PostgreSQL runs as somebody else
  for (const name of readdirSync(ROOT).filter(entry => !MADE.includes(entry)))
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await linkAll(join(ROOT, 'node_modules'), join(folder, 'node_modules'), OWN);
  await linkAll(join(ROOT, 'node_modules/.bin'), join(folder, 'node_modules/.bin'));
  return folder;
}
