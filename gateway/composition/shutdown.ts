import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { loggedError, type Logger } from '../../runtime/observe/log.js';

/** Functions that stop what was started; they run in reverse order. One that fails is logged and does not keep the others from running. */
export class StopStack {
  readonly #stops: (() => unknown)[] = [];

  constructor(private readonly log: Logger) {}

  add(...stops: (() => unknown)[]): void {
    this.#stops.push(...stops);
  }

  async run(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await this.#try(stop);
  }

  async #try(stop: () => unknown): Promise<void> {
    try {
      await stop();
    } catch (error) {
      this.log.warn({ err: loggedError(error) }, 'a part did not stop cleanly');
    }
  }
}

/** Time for last requests on open connections, ms; after it idle connections are closed. */
const LAST_ANSWERS_MS = 2_000;
const POLL_MS = 25;

const connections = (server: Server): Promise<number> => new Promise(resolve => server.getConnections((_error, count) => resolve(count)));

async function untilDisconnected(server: Server): Promise<void> {
  const end = performance.now() + LAST_ANSWERS_MS;
  while (performance.now() < end && (await connections(server)) > 0) await sleep(POLL_MS);
}

/** Ends the answers that would go on for ever. */
const endStreams = (app: FastifyInstance): Promise<unknown> => Promise.allSettled(app.leaving.map(leave => leave()));

/** Waits for the answers under way; a connection ends with its answer. */
async function close(app: FastifyInstance): Promise<void> {
  app.connections.endAfterAnswers();
  const closed = app.close();
  const ending = setInterval(() => app.connections.endIdle(), POLL_MS);
  await closed.finally(() => clearInterval(ending));
}

/**
 * Closes the server after the requests under way are answered. With a grace period requests are still accepted during it, while `/readyz`
 * fails and a load balancer learns of it. After it no connection is accepted and every answer closes its connection, because a connection
 * that the server closes while it is idle may just be carrying a request.
 */
export async function closeGracefully(app: FastifyInstance, graceMs: number): Promise<void> {
  if (graceMs > 0) await sleep(graceMs);
  await endStreams(app);
  if (graceMs > 0) {
    app.connections.endAfterAnswers();
    Server.prototype.close.call(app.server); // of node:net, because that of node:http also closes idle connections
    await untilDisconnected(app.server);
  }
  await close(app);
}
