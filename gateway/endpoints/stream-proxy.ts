import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Client, type Dispatcher } from 'undici';
import { detach, sendProblem } from '../../runtime/http/server.js';
import { Problem } from '../../runtime/request/errors.js';

/** Three heartbeats of a service; without any the stream is dead. Source: live 4.8. */
const SILENCE_MS = 45_000;
const HANDSHAKE_MS = 30_000;

/** Paths of streams end so. Other answers are bounded, and have the proxy's other rules. */
export const isStream = ({ method, url }: FastifyRequest): boolean => method === 'GET' && url.split('?')[0]!.endsWith('/stream');

/** Of one hop only. Source: RFC 9110, 7.6.1. */
const HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'content-length']);
const endToEnd = (headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).filter((pair): pair is [string, string | string[]] => !HOP.has(pair[0]) && pair[1] !== undefined),
  );

const BYE = 'event: bye\ndata: {"reason":"shutdown"}\n\n';

/** Passes server-sent events through as they come, each over a connection of its own. */
export class StreamProxy {
  readonly #open = new Set<{ leave(): void; drop(): void }>();
  #leaving = false;

  constructor(app: FastifyInstance) {
    app.leaving.push(() => this.#leave());
  }

  async pass(reply: FastifyReply, url: string, headers: Record<string, string>): Promise<unknown> {
    if (this.#leaving) return sendProblem(reply, new Problem('unavailable', 'This process is leaving', { retryAfter: 1 }));
    const { origin, path } = target(url);
    const upstream = new Client(origin, { pipelining: 1, bodyTimeout: SILENCE_MS, headersTimeout: HANDSHAKE_MS });
    let left = false;
    reply.raw.once('close', () => {
      left = true;
      void upstream.destroy(); // the connection is this stream's alone
    });
    const answer = await upstream.request({ path, method: 'GET', headers: endToEnd(headers) }).catch(() => null);
    if (answer === null)
      return left
        ? reply.hijack()
        : sendProblem(reply, new Problem('unavailable', 'The service cannot be reached right now', { retryAfter: 1 }));
    this.#flow(reply, answer);
    return reply;
  }

  #flow(reply: FastifyReply, { statusCode, headers, body }: Dispatcher.ResponseData): void {
    const { raw } = reply;
    reply.status(statusCode);
    detach(reply);
    reply.hijack();
    raw.writeHead(statusCode, { ...(reply.getHeaders() as Record<string, string>), ...endToEnd(headers) });
    raw.flushHeaders();
    let whole = true; // whether the last byte ended an event, so that ours may follow
    body.on('data', (chunk: Buffer) => (whole = chunk.length > 1 && chunk.subarray(-2).toString('latin1') === '\n\n'));
    body.on('error', () => raw.destroy()); // a client resumes what broke off
    body.pipe(raw);
    const one = { leave: () => this.#bye(raw, body, whole), drop: () => raw.destroy() };
    if (String(headers['content-type']).startsWith('text/event-stream')) this.#open.add(one);
    raw.once('close', () => this.#open.delete(one));
  }

  #bye(raw: FastifyReply['raw'], body: Dispatcher.ResponseData['body'], whole: boolean): void {
    body.unpipe(raw);
    raw.end(whole ? BYE : undefined);
    body.destroy();
  }

  /** Refuses new streams, says bye to those that are open, and ends them. */
  async #leave(): Promise<void> {
    this.#leaving = true;
    const open = [...this.#open];
    for (const one of open) one.leave();
    await new Promise(resolve => setTimeout(resolve, open.length > 0 ? 500 : 0));
    for (const one of open) one.drop();
  }
}

function target(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: `${pathname}${search}` };
}
