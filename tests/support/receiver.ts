import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that a webhook receiver got. */
export interface Received {
  headers: IncomingHttpHeaders;
  /** Raw bytes, over which the signature is computed. */
  raw: Buffer;
  body: any;
  at: number;
}

export type Reply = (received: Received, response: ServerResponse) => void | Promise<void>;

/** A webhook receiver on a real port. */
export interface Receiver {
  url: string;
  received: Received[];
  /** How it answers from now on; 200 at first. */
  reply(with_: number | Reply): void;
  /** Resolves when a request satisfies the condition, also one that came before. */
  until(condition: (all: Received[]) => boolean, timeoutMs?: number): Promise<Received[]>;
  stop(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const parsed = (raw: Buffer): unknown => {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return null;
  }
};

/** Starts a receiver on a free loopback port. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let reply: number | Reply = 200;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await readBody(request);
    const one: Received = { headers: request.headers, raw, body: parsed(raw), at: Date.now() };
    received.push(one);
    waiting.forEach(check => check());
    if (typeof reply === 'number') response.writeHead(reply).end();
    else await reply(one, response);
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const until = (condition: (all: Received[]) => boolean, timeoutMs = 15_000): Promise<Received[]> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => (
          waiting.delete(check),
          reject(new Error(`the receiver waited in vain; it has ${received.map(one => one.body?.type).join(', ') || 'nothing'}`))
        ),
        timeoutMs,
      );
      const check = (): void => {
        if (!condition(received)) return;
        clearTimeout(timer);
        waiting.delete(check);
        resolve(received);
      };
      waiting.add(check);
      check();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    until,
    reply: with_ => void (reply = with_),
    stop: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
