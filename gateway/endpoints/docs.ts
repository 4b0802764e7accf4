import { readdir, readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { docs, serveDocuments } from '../../rest-adapter/documents/reference.js';

/** A folder of generated documents, which are beside the sources also when `dist` runs. */
const folderOf = (path: string): URL => new URL(import.meta.url.includes('/dist/') ? `../../../${path}` : `../../${path}`, import.meta.url);

async function documentsIn(path: string): Promise<Map<string, string>> {
  const folder = folderOf(path);
  const files = (await readdir(folder)).filter(file => file.endsWith('.yaml'));
  return new Map(await Promise.all(files.map(async file => [file, await readFile(new URL(file, folder), 'utf8')] as const)));
}

/** `/docs` and the OpenAPI and AsyncAPI documents under `/api`. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const [openapi, asyncapi] = await Promise.all([documentsIn('rest-adapter/openapi/'), documentsIn('events/asyncapi/')]);
  await app.register(docs({ documents: openapi }));
  serveDocuments(app, 'asyncapi', asyncapi);
}
