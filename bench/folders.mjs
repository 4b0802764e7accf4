import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes a data folder, and what links in it lead to: where root runs the platform, PostgreSQL's data lies elsewhere. */
export async function removeData(folder) {
  const links = (await readdir(folder, { withFileTypes: true })).filter(entry => entry.isSymbolicLink());
  for (const { name } of links) {
    const target = await realpath(join(folder, name)).catch(() => null); // one that leads nowhere
    if (target) await rm(target, { recursive: true, force: true });
  }
  await rm(folder, { recursive: true, force: true });
}
