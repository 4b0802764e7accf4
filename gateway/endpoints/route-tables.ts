import { readdir } from 'node:fs/promises';
import { isSlug } from '../../events/slugs.js';
import type { RouteTable } from '../../rest-adapter/route.js';

const ROUTES = new URL('../../rest-adapter/routes/', import.meta.url);

/** The route tables of `rest-adapter/routes/`, one per service. */
export async function routeTables(): Promise<RouteTable[]> {
  const files = (await readdir(ROUTES)).filter(file => /\.(js|ts)$/.test(file) && isSlug(file.slice(0, -3))).sort();
  return Promise.all(files.map(async file => ((await import(new URL(file, ROUTES).href)) as { default: RouteTable }).default));
}
