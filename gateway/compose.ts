import { composeServices } from '@apollo/composition';
import { writeFile } from 'node:fs/promises';
import { parse } from 'graphql';
import 'reflect-metadata';
import { subgraphSdl } from '../runtime/subgraph.js';
import { SERVICES } from '../subgraphs/services.js';
import type { ServiceDeclaration } from '../runtime/service.js';
import { SUPERGRAPH } from './plans/supergraph-file.js';

/** Composition hints that are errors here: subgraphs that declare a directive or an argument of a shared field differently. */
const FATAL_HINTS = /DIRECTIVE|INCONSISTENT_BUT_COMPATIBLE_ARGUMENT/;

/** Composes subgraphs into a supergraph. @throws Error listing every composition error and every fatal hint. */
export function compose(declarations: readonly ServiceDeclaration[]): string {
  const services = declarations.map(declaration => ({
    name: declaration.slug,
    typeDefs: parse(subgraphSdl(declaration)),
    url: `http://${declaration.slug}.invalid/graphql`,
  }));
  const { supergraphSdl, errors, hints } = composeServices(services);
  const wrong = [
    ...(errors ?? []).map(error => error.message),
    ...(hints ?? []).filter(hint => FATAL_HINTS.test(hint.definition.code)).map(hint => hint.message),
  ];
  if (wrong.length) throw new Error(`composition failed:\n- ${wrong.join('\n- ')}`);
  return supergraphSdl!;
}

/** Every service that exists, by slug. */
export async function loadAll(): Promise<ServiceDeclaration[]> {
  const declarations = await Promise.all(Object.values(SERVICES).map(load => load()));
  return declarations.sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

/** The supergraph of all services that exist, from their classes. */
export const composeAll = async (): Promise<string> => compose(await loadAll());

if (process.argv[1]?.endsWith('/gateway/compose.js')) {
  const sdl = await composeAll();
  await writeFile(SUPERGRAPH, sdl);
  process.stdout.write(`supergraph.graphql: ${sdl.length} characters\n`);
}
