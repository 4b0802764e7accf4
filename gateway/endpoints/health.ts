import type { FastifyInstance } from 'fastify';
import type { RunningService } from '../../runtime/running-service.js';
import { CHECK_MS, type DatabaseChecks } from './database-checks.js';

/** `degraded`: not as it should be, but the service works. */
type Checks = Readonly<Record<string, boolean | 'degraded'>>;

/** The check's result; `failed` when it fails or is late. */
const within = <T>(check: Promise<T>, failed: T): Promise<T> =>
  Promise.race([check, new Promise<T>(resolve => setTimeout(resolve, CHECK_MS, failed).unref())]).catch(() => failed);

const ownChecks = (host: RunningService): Promise<Checks> => host.declaration.ready?.(host) ?? Promise.resolve({});

/** Whether the revocation feed has been read. Before that the process would accept revoked tokens. */
const knowsRevocations = (host: RunningService): boolean => host.revocations.silence !== null;

async function checksOf(host: RunningService, databases: DatabaseChecks, isWorking: boolean): Promise<Checks> {
  const [database, own] = await Promise.all([within(databases.answersFor(host), false), within(ownChecks(host), { service: false })]);
  return { database, bus: host.transport.ready().ok, revocations: knowsRevocations(host), work: isWorking, ...own };
}

/**
 * `GET /<slug>/readyz` (database, event transport, revocation feed, consumers and workers, the service's own checks) and `GET /<slug>/healthz`
 * (the process runs).
 * @param isWorking whether consumers, timers and workers have started: an event that is emitted before a consumer's first start never reaches it.
 */
export function healthRoutes(app: FastifyInstance, host: RunningService, databases: DatabaseChecks, isWorking: () => boolean): void {
  app.get(`/${host.slug}/healthz`, () => ({ status: 'ok' }));
  app.get(`/${host.slug}/readyz`, async (_request, reply) => {
    const checks = await checksOf(host, databases, isWorking());
    const ready = Object.values(checks).every(Boolean);
    host.metrics.ready.set({ service: host.slug }, ready ? 1 : 0);
    const named = Object.fromEntries(Object.entries(checks).map(([name, ok]) => [name, ok === 'degraded' ? ok : ok ? 'ok' : 'failing']));
    return reply
      .status(ready ? 200 : 503)
      .headers(ready ? {} : { 'retry-after': '1' })
      .send({ status: ready ? (Object.values(checks).includes('degraded') ? 'degraded' : 'ok') : 'unavailable', checks: named });
  });
}
