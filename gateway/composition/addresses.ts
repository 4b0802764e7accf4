import type { Slug } from '../../events/slugs.js';
import type { Config } from '../../runtime/config.js';
import type { RunningService } from '../../runtime/running-service.js';

/** Base URLs of this process and of those of other services. */
export class Addresses {
  /** Of this process; empty until it listens. */
  own = '';

  constructor(
    private readonly config: Config,
    private readonly hosts: ReadonlyMap<Slug, RunningService>,
  ) {}

  /** Of identity's process: the token endpoint and the keys. */
  get identity(): string {
    const { subgraphUrls, gatewayUrl, baseUrl, roles } = this.config;
    if (this.hosts.has('identity') && roles.has('subgraphs')) return this.own || baseUrl;
    return subgraphUrls.identity ?? gatewayUrl ?? (this.own || baseUrl); // the gateway passes identity's own paths on
  }

  /** Of the services in other processes. */
  get remotes(): Partial<Record<Slug, string>> {
    return Object.fromEntries(Object.entries(this.config.subgraphUrls).filter(([slug]) => !this.hosts.has(slug as Slug)));
  }
}
