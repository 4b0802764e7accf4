import { readdir, readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { parse } from 'yaml';
import { docs, serveDocuments } from '../../rest-adapter/documents/reference.js';

/** A folder of generated documents, which are beside the sources also when `dist` runs. */
const folderOf = (path: string): URL => new URL(import.meta.url.includes('/dist/') ? `../../../${path}` : `../../${path}`, import.meta.url);

async function documentsIn(path: string): Promise<Map<string, string>> {
  const folder = folderOf(path);
  const files = (await readdir(folder)).filter(file => file.endsWith('.yaml'));
  return new Map(await Promise.all(files.map(async file => [file, await readFile(new URL(file, folder), 'utf8')] as const)));
}

/** `info.summary`, which is above the description. */
const summaryOf = (yaml: string): string => parse(yaml.slice(0, yaml.indexOf('\n  description:'))).info.summary;

/**
 * `/docs` and the OpenAPI and AsyncAPI documents under `/api`.
 * @param demo whether `/dev/token` has a token to try them with. @returns one line about each service.
 */
export async function docsRoutes(app: FastifyInstance, demo = false): Promise<ReadonlyMap<string, string>> {
  const [openapi, asyncapi] = await Promise.all([documentsIn('rest-adapter/openapi/'), documentsIn('events/asyncapi/')]);
  await app.register(docs({ documents: openapi, demo }));
  serveDocuments(app, 'asyncapi', asyncapi);
  return new Map([...openapi].map(([file, yaml]) => [file.replace(/\.yaml$/, ''), summaryOf(yaml)]));
}
