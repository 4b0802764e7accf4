import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { atEnd } from '../../support/at-end.js';

/** Amount that is declined. */
export const DECLINED = 402;

export interface Receipt {
  status: 'succeeded' | 'declined';
  receipt: string;
}

/** A payment processor over HTTP: one charge for each idempotency key, the same answer to a repetition. */
export interface Processor {
  /** Charges by idempotency key. */
  readonly charges: Map<string, Receipt>;
  /** Requests, repetitions included. */
  calls: number;
  /** Requests are answered when this resolves. */
  gate: Promise<void>;
  /** @throws Error when it cannot be reached. */
  charge(key: string, amount: number): Promise<Receipt>;
  stop(): Promise<void>;
}

export async function startProcessor(): Promise<Processor> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [key, { amount }] = [String(request.headers['idempotency-key']), (await json(request)) as { amount: number }];
    processor.calls++;
    await processor.gate;
    const made: Receipt = { status: amount === DECLINED ? 'declined' : 'succeeded', receipt: `r${processor.charges.size + 1}` };
    if (!processor.charges.has(key)) processor.charges.set(key, made);
    response.end(JSON.stringify(processor.charges.get(key)));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/charges`;
  const processor: Processor = {
    charges: new Map(),
    calls: 0,
    gate: Promise.resolve(),
    async charge(key, amount) {
      const headers = { 'idempotency-key': key, connection: 'close' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ amount }) });
      return (await answer.json()) as Receipt;
    },
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections(); // of a test that has failed before it opened the gate
      }),
  };
  atEnd(() => processor.stop());
  return processor;
}
