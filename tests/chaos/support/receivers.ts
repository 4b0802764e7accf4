import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixed } from './random.js';

/** What a receiver does with a request: takes it, answers 500, never answers, or cuts the connection. */
export type Answer = 'taken' | 'failed' | 'hung' | 'cut';

/** A fault and the part of all requests that meet it. */
export type Fault = readonly [Answer, number];

/** Source: issue 4, chaos run. */
export const FAULTS: readonly Fault[] = [
  ['failed', 0.05],
  ['hung', 0.02],
  ['cut', 0.03],
];

export interface Arrival {
  eventId: string;
  userId: string;
  answer: Answer;
  /** The signature is that of the raw body. */
  genuine: boolean;
  /** ms. */
  at: number;
}

/** An outside endpoint with all the vices of one. What it does depends on the seed, the user's how-manieth event it is and the attempt: not on the time. */
export class FaultyReceiver {
  readonly arrivals: Arrival[] = [];
  readonly #places = new Map<string, Map<string, { place: number; attempts: number }>>();
  readonly #server = createServer((request, response) => void this.#take(request, response));
  secret = '';

  constructor(
    readonly name: string,
    readonly seed: number,
    readonly faults: readonly Fault[],
  ) {}

  async start(): Promise<this> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${this.name}`;
  }

  #answer(userId: string, eventId: string): Answer {
    const known = this.#places.get(userId) ?? new Map<string, { place: number; attempts: number }>();
    this.#places.set(userId, known);
    const seen = known.get(eventId) ?? { place: known.size, attempts: 0 };
    known.set(eventId, { ...seen, attempts: seen.attempts + 1 });
    let left = fixed(this.seed, this.name, userId, seen.place, seen.attempts);
    return this.faults.find(([, part]) => (left -= part) < 0)?.[0] ?? 'taken';
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = Buffer.concat((await request.toArray()) as Buffer[]);
    const { id: eventId, user_id: userId } = JSON.parse(raw.toString('utf8')) as { id: string; user_id: string };
    const genuine = request.headers['x-platform-signature'] === createHmac('sha256', this.secret).update(raw).digest('hex');
    const answer = this.#answer(userId, eventId);
    this.arrivals.push({ eventId, userId, answer, genuine, at: Date.now() });
    if (answer === 'taken') response.writeHead(204).end();
    else if (answer === 'failed') response.writeHead(500).end();
    else if (answer === 'cut') request.socket.destroy();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
