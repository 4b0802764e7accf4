/** Composes the canned services: one supergraph for everybody, one with our access rules, and the SDL of each service. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { NAMES, plainSdl, ruledSdl, type Name } from './services.ts';

function composed(sdlOf: (name: Name) => string, base: string): string {
  const services = NAMES.map(name => ({ name, url: `${base}/${name}/graphql`, typeDefs: parse(sdlOf(name)) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (!supergraphSdl) throw new Error(errors?.map(error => error.message).join('\n'));
  return supergraphSdl;
}

/** Writes `plain.graphql`, `ruled.graphql` and `<service>.graphql` into a folder. @param base where the services answer. */
export async function writeSupergraphs(folder: string, base: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'plain.graphql'), composed(plainSdl, base));
  await writeFile(join(folder, 'ruled.graphql'), composed(ruledSdl, base));
  for (const name of NAMES) await writeFile(join(folder, `${name}.graphql`), plainSdl(name));
}
