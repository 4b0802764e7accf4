import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { buildASTSchema, parse } from 'graphql';
import { generateOpenApi } from '../../rest-adapter/documents/openapi.js';
import { rowList } from '../../rest-adapter/documents/rows.js';
import { planTables } from '../../rest-adapter/plan.js';
import { composeAll, loadAll } from '../compose.js';
import { routeTables } from '../endpoints/route-tables.js';
import { ASYNCAPI, eventFiles, SCHEMAS } from './event-files.js';

/** A folder of the checkout, also when `dist` runs. */
const checkoutFolder = (path: string): URL =>
  new URL(import.meta.url.includes('/dist/') ? `../../../${path}` : `../../${path}`, import.meta.url);

/** Everything that is generated and checked in: path in the checkout -> text. */
export async function generated(): Promise<Map<string, string>> {
  const [supergraph, declarations, tables] = await Promise.all([composeAll(), loadAll(), routeTables()]);
  const schema = buildASTSchema(parse(supergraph, { noLocation: true }), { assumeValid: true });
  const plans = planTables(schema, tables);
  const documents = [...generateOpenApi(plans, declarations)].map(([file, text]) => [`rest-adapter/openapi/${file}`, text] as const);
  return new Map([
    ['gateway/supergraph.graphql', supergraph],
    ['rest-adapter/rows.txt', rowList(plans)],
    ...documents,
    ...(await eventFiles(checkoutFolder)),
  ]);
}

/** Folders that hold generated files only: any other file in them is deleted. */
export const GENERATED_FOLDERS = ['rest-adapter/openapi/', SCHEMAS, ASYNCAPI];

async function write(): Promise<void> {
  const files = await generated();
  for (const folder of GENERATED_FOLDERS) {
    await mkdir(checkoutFolder(folder), { recursive: true });
    for (const file of await readdir(checkoutFolder(folder))) if (!files.has(folder + file)) await rm(checkoutFolder(folder + file));
  }
  for (const [path, text] of files) await writeFile(checkoutFolder(path), text);
  process.stdout.write(`${files.size} files generated\n`);
}

if (process.argv[1]?.endsWith('/gateway/documents/generate.js')) await write();
