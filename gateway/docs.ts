import { readdir, readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { docs } from '../rest-adapter/docs.js';

/** The checked-in OpenAPI documents, beside the sources whichever build runs. */
const FOLDER = new URL(import.meta.url.includes('/dist/') ? '../../rest-adapter/openapi/' : '../rest-adapter/openapi/', import.meta.url);

/** Serves the OpenAPI documents and the API reference page. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const files = (await readdir(FOLDER)).filter(file => file.endsWith('.yaml'));
  const documents = new Map(await Promise.all(files.map(async file => [file, await readFile(new URL(file, FOLDER), 'utf8')] as const)));
  await app.register(docs({ documents }));
}
