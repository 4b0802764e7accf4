import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** Folder of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../..');

/** Rooms whose files are built and run. Source: architecture 1. */
export const ROOMS = ['runtime', 'events', 'subgraphs', 'rest-adapter', 'gateway', 'migrations'];

/** Files under a folder, relative to the checkout, with `/`. An absent folder has none. */
export function filesIn(folder: string): string[] {
  const dir = join(ROOT, folder);
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

/** TypeScript files of a folder. */
export const sourcesIn = (folder: string): string[] => filesIn(folder).filter(file => file.endsWith('.ts'));
