import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, resolve } from 'node:path';

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

export const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Files of the checkout that a file imports, type imports included: `['events/slugs.js']`. */
export function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)].map(match => match[1]!);
  return specifiers.map(specifier => posix.normalize(posix.join(posix.dirname(file), specifier)));
}
