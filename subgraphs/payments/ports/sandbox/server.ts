import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sameSecret } from '../../../../runtime/data/crypto.js';
import { createHttp } from '../../../../runtime/http/server.js';
import type { Logger } from '../../../../runtime/observe/log.js';
import { fail } from '../../../../runtime/request/errors.js';
import type { Action } from './actions.js';
import { Sandbox, SILENCE, type SandboxCall } from './sandbox.js';
import { SandboxStore } from './store.js';

/** Until a call that gets no answer is cut, ms. Source: payments 8. */
const SILENCE_MS = 2_000;
const HOST = '127.0.0.1';

export interface SandboxSetting {
  databaseUrl: string;
  manualClock: boolean;
  /** Base URL under which payments' inbound webhook is reached. */
  baseUrl: string;
  /** Signs the webhook calls. */
  webhookSecret: string;
  /** Bearer token of its API. */
  key: string;
  /** 0: any. */
  port: number;
  host?: string;
  log: Logger;
}

export interface RunningSandbox {
  readonly url: string;
  stop(): Promise<void>;
}

async function cut(reply: FastifyReply): Promise<FastifyReply> {
  reply.hijack();
  await sleep(SILENCE_MS, undefined, { ref: false });
  reply.raw.destroy();
  return reply;
}

function routes(app: FastifyInstance, sandbox: Sandbox, key: string): void {
  app.addHook('onRequest', async request => {
    if (!sameSecret(request.headers.authorization ?? '', `Bearer ${key}`))
      fail('unauthenticated', 'The key of the sandbox is missing or wrong');
  });
  app.post<{ Params: { operation: string }; Body: SandboxCall }>('/v1/operations/:operation', async ({ params, body }, reply) => {
    const result = (await sandbox.run(params.operation, body)) ?? fail('not_found', 'There is no such operation');
    return result === SILENCE ? cut(reply) : reply.send(result);
  });
  app.post<{ Body: Action }>('/v1/actions', async ({ body }) => ({ done: await sandbox.act(body) }));
}

/** Starts the sandbox processor: an HTTP server with connections and transactions of its own. Source: payments 8. */
export async function startSandbox(setting: SandboxSetting): Promise<RunningSandbox> {
  const { databaseUrl, manualClock, baseUrl, webhookSecret, key, log } = setting;
  const store = new SandboxStore(databaseUrl, manualClock);
  const sandbox = new Sandbox(store, { url: `${baseUrl}/payments/v1/webhooks/processor`, secret: webhookSecret, log });
  const app = createHttp({ log });
  routes(app, sandbox, key);
  const url = await app.listen({ port: setting.port, host: setting.host ?? HOST });
  sandbox.start();
  return {
    url,
    async stop() {
      app.server.closeAllConnections();
      await app.close();
      await sandbox.stop();
    },
  };
}
