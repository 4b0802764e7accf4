import { readdir } from 'node:fs/promises';
import { isSlug, type Slug } from '../../events/slugs.js';
import type { RouteTable } from '../../rest-adapter/route.js';
import { BODY_LIMIT } from '../../runtime/http/server.js';

const ROUTES = new URL('../../rest-adapter/routes/', import.meta.url);

/** The route tables of `rest-adapter/routes/`, one per service. */
export async function routeTables(): Promise<RouteTable[]> {
  const files = (await readdir(ROUTES)).filter(file => /\.(js|ts)$/.test(file) && isSlug(file.slice(0, -3))).sort();
  return Promise.all(files.map(async file => ((await import(new URL(file, ROUTES).href)) as { default: RouteTable }).default));
}

/** Largest body that a REST path of a service takes, bytes; a file counts as base64. */
export async function largestBody(slug: Slug): Promise<number> {
  const routes = (await routeTables()).filter(table => table.service === slug).flatMap(table => table.routes);
  return Math.max(BODY_LIMIT, ...routes.flatMap(({ bodyLimit = 0, upload }) => [bodyLimit, Math.ceil(((upload?.maxBytes ?? 0) * 4) / 3)]));
}
