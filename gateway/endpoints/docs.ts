import { open, readdir, readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { docs, serveDocuments } from '../../rest-adapter/documents/reference.js';

/** A folder of generated documents, which are beside the sources also when `dist` runs. */
const folderOf = (path: string): URL => new URL(import.meta.url.includes('/dist/') ? `../../../${path}` : `../../${path}`, import.meta.url);

/** The documents of a folder: file name -> address. */
async function documentsIn(path: string): Promise<Map<string, URL>> {
  const folder = folderOf(path);
  const files = (await readdir(folder)).filter(file => file.endsWith('.yaml'));
  return new Map(files.map(file => [file, new URL(file, folder)]));
}

const readers = (files: ReadonlyMap<string, URL>): Map<string, () => Promise<Buffer>> =>
  new Map([...files].map(([file, url]) => [file, () => readFile(url)]));

/** The lines of `info` above its description are among the first bytes of a document. */
const HEAD_BYTES = 4_096;

/** `info.summary`, which is above the description. The parser is loaded for who looks. */
async function summaryOf(url: URL): Promise<string> {
  const { parse } = await import('yaml');
  const file = await open(url);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES) });
    const head = buffer.toString('utf8', 0, bytesRead);
    return parse(head.slice(0, head.indexOf('\n  description:'))).info.summary;
  } finally {
    await file.close();
  }
}

async function summariesOf(openapi: ReadonlyMap<string, URL>): Promise<ReadonlyMap<string, string>> {
  const summaries = [...openapi].map(async ([file, url]) => [file.replace(/\.yaml$/, ''), await summaryOf(url)] as const);
  return new Map(await Promise.all(summaries));
}

/**
 * `/docs` and the OpenAPI and AsyncAPI documents under `/api`.
 * @param demo whether `/dev/token` has a token to try them with. @returns what reads one line about each service.
 */
export async function docsRoutes(app: FastifyInstance, demo = false): Promise<() => Promise<ReadonlyMap<string, string>>> {
  const [openapi, asyncapi] = await Promise.all([documentsIn('rest-adapter/openapi/'), documentsIn('events/asyncapi/')]);
  await app.register(docs({ documents: readers(openapi), demo }));
  serveDocuments(app, 'asyncapi', readers(asyncapi));
  return () => summariesOf(openapi);
}
