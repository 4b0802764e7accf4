import type { Slug } from '../../events/slugs.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { SubgraphSource } from '../plans/subgraph-source.js';
import { HttpDataSource, QUICK_MS } from '../sources/http-data-source.js';
import { LocalDataSource } from '../sources/local-data-source.js';
import type { Addresses } from './addresses.js';
import type { Parts } from './parts.js';

/** Chooses how the gateway calls a subgraph: in process where it is hosted, else over HTTP. @throws Error for one that is nowhere. */
export function subgraphSource(
  slug: Slug,
  { config, metrics, stops }: Parts,
  addresses: Addresses,
  host: RunningService | undefined,
): SubgraphSource {
  if (host && config.subgraphCalls === 'process') return new LocalDataSource(host, metrics);
  const url = config.subgraphUrls[slug];
  if (!host && !url)
    throw new Error(
      `${slug} is in the supergraph, but neither in this process (SERVICES) nor elsewhere (SUBGRAPH_URL_${slug.toUpperCase().replaceAll('-', '_')})`,
    );
  const baseUrl = (): string => (host ? addresses.own : url!);
  const source = new HttpDataSource(slug, baseUrl, config.subgraphSecret!, metrics, config.subgraphPipelining ? QUICK_MS : 0);
  stops.add(() => source.close());
  return source;
}
