import { loggedError } from '../../../runtime/observe/log.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Worker } from '../../../runtime/service.js';
import { reconcileRooms } from '../commands/reconcile.js';
import { settleDueRooms } from '../commands/rooms.js';
import { stopTicks, tickForgotten } from '../commands/ticker.js';
import { providerOf } from '../ports/providers.js';

const EVERY_MS = 2_000;

async function look(host: ServiceHost): Promise<void> {
  await settleDueRooms(host);
  await tickForgotten(host);
  await reconcileRooms(host);
}

/** Keeps rooms at the vendor as they are wanted, attendance as the vendor sees it, and streams told of what a process left behind. */
export const keeper: Worker = {
  role: 'scheduler',
  async start(host) {
    providerOf(host); // a wrong setting stops the start
    let [stopped, running] = [false, Promise.resolve()];
    const run = (): void => {
      running = look(host).catch(error => host.log.warn({ err: loggedError(error) }, 'live could not look after its rooms'));
      void running.then(() => stopped || (timer = setTimeout(run, EVERY_MS).unref()));
    };
    let timer = setTimeout(run, EVERY_MS).unref();
    return {
      async stop() {
        stopped = true;
        clearTimeout(timer);
        await running;
        stopTicks(host);
      },
    };
  },
};
