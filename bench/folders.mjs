import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes a data folder and the targets of links in it: when root runs the platform, PostgreSQL's data is outside of it. */
export async function removeData(folder) {
  const links = (await readdir(folder, { withFileTypes: true })).filter(entry => entry.isSymbolicLink());
  for (const { name } of links) {
    const target = await realpath(join(folder, name)).catch(() => null); // a dangling link
    if (target) await rm(target, { recursive: true, force: true });
  }
  await rm(folder, { recursive: true, force: true });
}
