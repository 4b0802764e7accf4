import { describe, expect, test } from 'vitest';
import type { Slug } from '../../events/slugs.js';
import { declarations, tables } from './composition.js';
import { DOCUMENTED } from './documented.js';
import { PENDING_ENDPOINTS, PENDING_SERVICES } from './pending.js';

/** A path with its parameters' names taken away: `{id}` and `{user_id}` make the same path. */
const shape = (endpoint: string): string => endpoint.replace(/\{[^}]+\}/g, '{}');

const built = new Map<Slug, Set<string>>(
  declarations.map(({ slug, nativePaths = [] }) => {
    const rows = tables.filter(table => table.service === slug).flatMap(table => table.routes);
    const health = ['GET /readyz', 'GET /healthz'];
    return [slug, new Set([...health, ...[...rows, ...nativePaths].map(({ method, path }) => shape(`${method} ${path}`))])];
  }),
);

describe('documented endpoints', () => {
  test('every documented endpoint of a service that exists has a route, or stands in pending.ts', () => {
    const missing = [...built].flatMap(([slug, paths]) =>
      (DOCUMENTED[slug] ?? [])
        .filter(endpoint => !paths.has(shape(endpoint)) && !PENDING_ENDPOINTS[slug]?.includes(endpoint))
        .map(endpoint => `${slug}: ${endpoint}`),
    );
    expect(missing).toEqual([]);
  });

  test('pending.ts names nothing that is there already', () => {
    const done = Object.entries(PENDING_ENDPOINTS).flatMap(([slug, endpoints]) =>
      endpoints.filter(endpoint => built.get(slug as Slug)?.has(shape(endpoint))),
    );
    expect(done).toEqual([]);
    expect(PENDING_SERVICES.filter(slug => built.has(slug))).toEqual([]);
  });

  test('every path of a table belongs to a service that exists, once', () => {
    const all = tables.flatMap(table => table.routes.map(route => `${table.service} ${route.method} ${route.path}`));
    expect(all.filter((path, index) => all.indexOf(path) !== index)).toEqual([]);
    expect(tables.filter(table => !built.has(table.service)).map(table => table.service)).toEqual([]);
  });
});
