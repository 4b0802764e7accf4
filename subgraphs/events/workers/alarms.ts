import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Depth } from '../../../events/transport/port.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Worker } from '../../../runtime/service.js';
import { lookAtAlarms } from '../commands/alarms.js';

const LOOK_MS = 15_000;

/**
 * How long events have waited for each active consumer, in a queue or in hand, s. Where nobody knows how old the first is (a replay's are
 * old by nature) it counts since when the consumer was never seen without any.
 */
export class Lags {
  readonly #waitingSince = new Map<string, number>();

  async look(host: ServiceHost): Promise<Map<string, number>> {
    const consumers = await host.read(ctx => ctx.sql<{ name: string }>(`select name from events.consumer where status = 'active'`));
    const depths = await host.transport.depths(consumers.map(({ name }) => name));
    return new Map(consumers.map(({ name }, index) => [name, this.#lagOf(name, depths[index]!)]));
  }

  #lagOf(name: string, { ready, unacked, oldestAt }: Depth): number {
    const now = Date.now(); // system time: so are the ids of events
    if (ready + unacked === 0) this.#waitingSince.delete(name);
    else if (!this.#waitingSince.has(name)) this.#waitingSince.set(name, now);
    return Math.max(0, now - (oldestAt?.getTime() ?? this.#waitingSince.get(name) ?? now)) / 1000;
  }
}

class AlarmWatch {
  readonly #lags = new Lags();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(readonly host: ServiceHost) {
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#look());
    }, LOOK_MS);
  }

  async #look(): Promise<void> {
    try {
      const lags = await this.#lags.look(this.host);
      await this.host.transaction(ctx => lookAtAlarms(ctx, lags));
    } catch (error) {
      this.host.log.warn({ err: loggedError(error) }, 'the alarms of the bus could not be looked at; they are in 15 s');
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}

/** Looks every 15 s by the system clock, as the relay works; two processes that look at once report a thing once. */
export const alarmWorker: Worker = { role: 'scheduler', start: async host => new AlarmWatch(host) };
