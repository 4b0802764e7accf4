import { isIP, type LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import type Stripe from 'stripe';
import { checkedAddresses, pinnedLookup, resolveByDns, type Resolve } from '../../../../runtime/http/checked-addresses.js';
import type { Network } from '../../../../runtime/http/public-address.js';

const MAX_ANSWER_BYTES = 4 * 1_048_576;
const CONNECTIONS = 32;

export interface StripeHttpSetting {
  /** Over everything: name, connection, answer and body; ms. */
  deadlineMs: number;
  /** Networks besides the public ones; tests only. */
  allowed?: readonly Network[];
  resolve?: Resolve;
}

/** Names lead to judged addresses only, and what is connected to is what was judged. */
const guardedLookup =
  ({ resolve = resolveByDns, allowed = [] }: StripeHttpSetting): LookupFunction =>
  (host, options, callback) => {
    checkedAddresses(host, resolve, allowed).then(
      addresses => pinnedLookup(addresses)(host, options, callback),
      (error: Error) => callback(error, '', 4),
    );
  };

class StripeAnswer implements Stripe.HttpClientResponse {
  constructor(
    private readonly status: number,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly text: string,
  ) {}

  getStatusCode(): number {
    return this.status;
  }
  getHeaders(): Record<string, string> {
    return { ...this.headers };
  }
  getRawResponse(): unknown {
    return this;
  }
  toStream(): never {
    throw new Error('answers are not streamed');
  }
  async toJSON(): Promise<unknown> {
    return JSON.parse(this.text) as unknown;
  }
}

const flat = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]));

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer of Stripe is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Sends what the `stripe` package asks: checked addresses, one deadline, a size limit, no redirects, no proxy. */
export class GuardedStripeClient implements Stripe.HttpClient {
  readonly #agent: Agent;

  constructor(private readonly setting: StripeHttpSetting) {
    this.#agent = new Agent({ connections: CONNECTIONS, connect: { lookup: guardedLookup(setting), timeout: setting.deadlineMs } });
  }

  getClientName(): string {
    return 'guarded';
  }

  async makeRequest(
    host: string,
    port: string,
    path: string,
    method: string,
    headers: Readonly<Record<string, unknown>>,
    requestData: string,
    protocol: string,
  ): Promise<StripeAnswer> {
    if (isIP(host)) await checkedAddresses(host, resolveByDns, this.setting.allowed ?? []); // a literal address is not looked up
    const answer = await request(`${protocol}://${host}:${port || (protocol === 'https' ? '443' : '80')}${path}`, {
      method: method as Dispatcher.HttpMethod,
      headers: sent(headers),
      body: method === 'GET' ? null : requestData,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(this.setting.deadlineMs),
    });
    return new StripeAnswer(answer.statusCode, flat(answer.headers), await textOf(answer.body));
  }

  close(): Promise<void> {
    return this.#agent.close();
  }
}

/** Headers that undici sets itself are left to it. */
const sent = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value != null && !['content-length', 'connection', 'host'].includes(name.toLowerCase()))
      .map(([name, value]) => [name, String(value)]),
  );
