import type pg from 'pg';
import { openPool } from '../../runtime/data/pool.js';
import type { RunningService } from '../../runtime/running-service.js';

/** A readiness check that takes longer has failed, ms. */
export const CHECK_MS = 2_000;
/** Its connection is kept for longer than the 10 s between two looks, so that not each of them opens one. */
const SETTINGS = { application_name: 'platform_readiness', idleTimeoutMillis: 15_000, connectionTimeoutMillis: CHECK_MS };

/**
 * Whether the services' databases answer: asked over one connection for each database of the process. Over a service's own one each look
 * would keep that open for ever, where a pool is to be empty at rest: 28 services in one process held 28 connections of 2.6 MB.
 */
export class DatabaseChecks {
  readonly #pools = new Map<string, pg.Pool>();
  /** Services that are looked at together have one answer. */
  readonly #underWay = new Map<string, Promise<boolean>>();

  /** A service whose connections are all in use has to get one of its own. @throws Error when the database does not answer. */
  answersFor(host: RunningService): Promise<boolean> {
    if (host.isExhausted) return host.read(ctx => ctx.sql('select 1')).then(() => true);
    const url = host.databaseUrl;
    const known = this.#underWay.get(url);
    if (known) return known;
    const asked = this.#ask(host).finally(() => this.#underWay.delete(url));
    this.#underWay.set(url, asked);
    return asked;
  }

  async #ask({ slug, databaseUrl }: RunningService): Promise<boolean> {
    const pool = this.#pools.get(databaseUrl) ?? openPool(slug, databaseUrl, 1, SETTINGS);
    this.#pools.set(databaseUrl, pool);
    await pool.query({ text: 'select 1', query_timeout: CHECK_MS } as pg.QueryConfig);
    return true;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(pool => pool.end()));
  }
}
