import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** How long those who are connected have for their last request, ms; idle ones are cut off then. */
const LAST_ANSWERS_MS = 2_000;
const LOOK_MS = 25;

const connections = (server: Server): Promise<number> => new Promise(resolve => server.getConnections((_error, count) => resolve(count)));

async function untilAllAreGone(server: Server): Promise<void> {
  const end = performance.now() + LAST_ANSWERS_MS;
  while (performance.now() < end && (await connections(server)) > 0) await sleep(LOOK_MS);
}

/**
 * Closes the doors; whoever was let in is answered first. With a grace, during which `/readyz` says no, so that a balancer looks elsewhere,
 * nobody new is let in after it and each answer ends its connection, because one that is closed while idle may just carry a request.
 */
export async function leave(app: FastifyInstance, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    await sleep(graceMs);
    app.server.prependListener('request', (_request, response) => (response.shouldKeepAlive = false));
    Server.prototype.close.call(app.server); // of node:net: that of node:http closes idle connections, too
    await untilAllAreGone(app.server);
  }
  await app.close();
}
