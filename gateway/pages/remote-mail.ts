import { request as httpRequest } from 'undici';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { localOnly } from '../../runtime/http/local-only.js';

/** Deadline of a page, ms. */
const PAGE_MS = 10_000;
const KEPT = ['content-type', 'content-security-policy', 'cache-control'] as const;

/**
 * Development's mailbox where comms is in another process of this machine: asked for anew and as if from here, because comms shows it to nobody
 * for whom a proxy asks.
 */
export function remoteMail(app: FastifyInstance, commsUrl: string): void {
  const show = async ({ url }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { statusCode, headers, body } = await httpRequest(new URL(url, commsUrl), { signal: AbortSignal.timeout(PAGE_MS) });
    for (const name of KEPT) if (headers[name] !== undefined) reply.header(name, headers[name]);
    return reply.code(statusCode).send(await body.text());
  };
  for (const path of ['/dev/mail', '/dev/mail/:id']) app.get(path, { onRequest: localOnly }, show);
}
