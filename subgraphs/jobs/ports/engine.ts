import type { ServiceHost } from '../../../runtime/request/context.js';
import type { JobEngine } from '../../../runtime/jobs/engine.js';
import { PgBossEngine } from '../../../runtime/jobs/pg-boss.js';
import { sqlOf } from '../../../runtime/data/database.js';

const engines = new WeakMap<ServiceHost, JobEngine>();

/** The engine on the service's own connections; what it does happens in the transaction whose SQL it is given. */
export function engineOf(host: ServiceHost): JobEngine {
  let engine = engines.get(host);
  if (!engine) engines.set(host, (engine = new PgBossEngine((text, params) => sqlOf(host.orm.em.fork() as never)(text, params))));
  return engine;
}
