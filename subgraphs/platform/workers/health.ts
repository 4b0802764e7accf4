import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../runtime/time/clock.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Worker } from '../../../runtime/service.js';
import { sendCanary } from '../commands/canary.js';
import { recordProbes } from '../commands/health.js';
import { PlatformService } from '../entities/registry.js';
import { probe } from '../ports/health-probe.js';
import { settingsOf } from '../ports/settings.js';

/** Whoever makes the row of a slot does its work, so one process polls however many there are. */
const CLAIM = `
  insert into platform.schedule_slot (name, slot, claimed_at, finished_at) values ($1, $2, clock_timestamp(), clock_timestamp())
  on conflict (name, slot) do nothing returning slot`;
const FORGET_SLOTS = `delete from platform.schedule_slot where name = $1 and slot < $2::timestamptz - interval '1 hour'`;

async function claim(ctx: Context, name: string, everyMs: number): Promise<boolean> {
  const slot = new Date(Math.floor(systemClock.now().getTime() / everyMs) * everyMs).toISOString();
  const mine = (await ctx.sql(CLAIM, [name, slot])).length > 0;
  if (mine) await ctx.sql(FORGET_SLOTS, [name, slot]);
  return mine;
}

/** Looks at every service of the registry and writes what it saw. Health is of the real world, so it runs on the wall clock. */
async function pollServices(host: ServiceHost): Promise<void> {
  const services = await host.read(ctx => ctx.em.find(PlatformService, {}));
  const probes = await Promise.all(services.map(({ slug, baseUrl }) => probe(host, slug, baseUrl)));
  await host.transaction(ctx => recordProbes(ctx, probes, systemClock.now()));
}

/** Repeats work about every so often, a tenth of it earlier or later, until it is stopped; a failure is logged and tried again. */
function keep(host: ServiceHost, name: string, everyMs: number, work: () => Promise<void>): () => Promise<void> {
  const stopped = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await sleep(everyMs * (0.9 + Math.random() * 0.2), undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      const turn = host.transaction(ctx => claim(ctx, name, everyMs)).then(mine => (mine ? work() : undefined));
      await turn.catch(error =>
        host.log.warn({ err: loggedError(error), worker: name }, 'a look at the services failed; it is tried again'),
      );
    }
  };
  const running = loop();
  return async () => {
    stopped.abort();
    await running;
  };
}

/** Polls the services and sends canaries over the bus (role `scheduler`). Source: platform, rule 9 and section 5. */
export const healthWorker: Worker = {
  role: 'scheduler',
  async start(host) {
    const { healthPollMs, canaryMs } = settingsOf(host);
    const stops = [
      ...(healthPollMs ? [keep(host, 'health_poll', healthPollMs, () => pollServices(host))] : []),
      ...(canaryMs ? [keep(host, 'canary', canaryMs, () => host.transaction(async ctx => void sendCanary(ctx)))] : []),
    ];
    return { stop: async () => void (await Promise.all(stops.map(stop => stop()))) };
  },
};
