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
    const { subgraphUrls, baseUrl } = this.config;
    const isHere = this.hosts.has('identity') || !subgraphUrls.identity;
    return isHere ? this.own || baseUrl : subgraphUrls.identity!;
  }

  /** Of the services in other processes. */
  get remotes(): Partial<Record<Slug, string>> {
    return Object.fromEntries(Object.entries(this.config.subgraphUrls).filter(([slug]) => !this.hosts.has(slug as Slug)));
  }
}
