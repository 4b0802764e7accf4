import { readFile } from 'node:fs/promises';

/** The checked-in supergraph, beside the sources also when `dist` runs. */
export const SUPERGRAPH = new URL(
  import.meta.url.includes('/dist/') ? '../../../gateway/supergraph.graphql' : '../supergraph.graphql',
  import.meta.url,
);

export const readSupergraph = (): Promise<string> => readFile(SUPERGRAPH, 'utf8');
