import type { Run } from './run.js';
import { isRow, type Row } from './rows.js';

/**
 * Merges a subgraph's object into the data, by reference. Objects, and lists of equal length, are merged member by member; any other
 * value replaces the old one. A nested object that has several paths is copied before it is changed, because the change is for one path.
 */
export function merge(target: Row, source: Row, run: Run): void {
  for (const key in source) {
    const value = source[key];
    if (value !== undefined) target[key] = merged(target[key], value, run);
  }
}

function merged(old: unknown, value: unknown, run: Run): unknown {
  if (old === value || old === null || typeof old !== 'object' || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return Array.isArray(old) && old.length === value.length ? mergedLists(own(old, run), value, run) : value;
  if (Array.isArray(old)) return value;
  const target = own(old as Row, run);
  merge(target, value as Row, run);
  return target;
}

function mergedLists(target: unknown[], source: readonly unknown[], run: Run): unknown[] {
  for (let at = 0; at < source.length; at++) target[at] = merged(target[at], source[at], run);
  return target;
}

/** The object itself, or a copy of a shared one. What is below the copy stays shared. */
function own<T extends Row | unknown[]>(object: T, run: Run): T {
  if (!run.shared?.has(object)) return object;
  return (Array.isArray(object) ? [...object] : { ...object }) as T;
}

/** Marks everything below `entity` as having more than one path. */
export function share(entity: Row, run: Run): void {
  run.shared ??= new Set();
  for (const key in entity) markShared(entity[key], run.shared);
}

function markShared(value: unknown, shared: Set<object>): void {
  if (value === null || typeof value !== 'object' || shared.has(value)) return;
  shared.add(value);
  if (Array.isArray(value)) for (const element of value) markShared(element, shared);
  else if (isRow(value)) for (const key in value) markShared(value[key], shared);
}
