import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import { sameSecret } from '../../../runtime/data/crypto.js';
import { openPool } from '../../../runtime/data/pool.js';
import { createHttp } from '../../../runtime/http/server.js';
import type { Logger } from '../../../runtime/observe/log.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import type { DoubleAnswer } from './payments-double.js';
import { PaymentsTable, SILENT, type DoubleSql } from './payments-table.js';

/** Connections of the double; never those of the service. */
const CONNECTIONS = 3;
/** Until a call that gets no answer is cut, ms. */
const SILENCE_MS = 2_000;

export interface DoubleSetting {
  databaseUrl: string;
  /** Bearer token of its API. */
  key: string;
  /** 0: any. */
  port: number;
  host?: string;
  log: Logger;
}

export interface RunningDouble {
  readonly url: string;
  stop(): Promise<void>;
}

/** One call is one transaction; what is refused leaves nothing behind. */
async function inTransaction<T>(pool: pg.Pool, work: (sql: DoubleSql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(async (text, params = []) => (await client.query(text, [...params])).rows);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    client.release(true); // with the connection goes its transaction
    throw error;
  }
}

async function answerTo(pool: pg.Pool, operation: string, args: readonly unknown[]): Promise<DoubleAnswer | typeof SILENT> {
  try {
    const result = await inTransaction(pool, sql => new PaymentsTable(sql).run(operation, args));
    return result === SILENT ? SILENT : { result };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { members } = error.options;
    return { problem: { code: error.code, detail: error.message, ...(members && { members }) } };
  }
}

async function cut(reply: FastifyReply): Promise<FastifyReply> {
  reply.hijack();
  await sleep(SILENCE_MS, undefined, { ref: false });
  reply.raw.destroy();
  return reply;
}

/** Starts the double of payments as an HTTP server with connections of its own: it goes on when commerce dies. Source: commerce 8. */
export async function startDouble({ databaseUrl, key, port, host = '127.0.0.1', log }: DoubleSetting): Promise<RunningDouble> {
  const pool = openPool('commerce', databaseUrl, CONNECTIONS);
  const app = createHttp({ log });
  app.addHook('onRequest', async request => {
    if (!sameSecret(request.headers.authorization ?? '', `Bearer ${key}`))
      fail('unauthenticated', 'The key of the double is missing or wrong');
  });
  app.post<{ Params: { operation: string }; Body: unknown[] }>('/:operation', async ({ params, body }, reply) => {
    const answer = await answerTo(pool, params.operation, body);
    return answer === SILENT ? cut(reply) : reply.send(answer);
  });
  const url = await app.listen({ port, host });
  return {
    url,
    async stop() {
      app.server.closeAllConnections();
      await app.close();
      await pool.end();
    },
  };
}
