import { buildConnector, Client, type Dispatcher } from 'undici';
import { checkedAddresses, pinnedLookup, resolveByDns, type Resolve } from './checked-addresses.js';
import { addressFault, hostOf } from './outside-url.js';
import type { Network } from './public-address.js';

/** What may be fetched from an address that somebody else named. */
export interface FetchLimits {
  /** Over everything: names, connections, redirects, body; ms. */
  deadlineMs: number;
  maxBytes: number;
  /** Redirects that are followed; each is judged like the first address. */
  redirects: number;
  accept: string;
  /** Networks besides the public ones, where `http` and any port will do; development and tests only. */
  allowed?: readonly Network[];
  resolve?: Resolve;
  /** Certificate authorities besides the public ones; tests only. */
  ca?: string;
}

export type FetchRefusal = 'address' | 'redirects' | 'status' | 'too_large' | 'unreachable';

/** Why nothing was fetched. The message names neither address nor answer, so that nobody can map a network with it. */
export class FetchRefused extends Error {
  override name = 'FetchRefused';

  constructor(
    readonly reason: FetchRefusal,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const MAX_HEADER_BYTES = 16_384;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function judged(text: string, base: URL | undefined, allowed: readonly Network[]): URL {
  const fault = addressFault(text, allowed, base);
  if (fault !== null) throw new FetchRefused('address', fault);
  return new URL(text, base);
}

async function bodyOf(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += (chunk as Buffer).length;
    if (size > maxBytes) throw new FetchRefused('too_large', `must lead to at most ${maxBytes} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** One GET on a connection of its own that can only reach the addresses that were judged. */
async function hop(url: URL, limits: FetchLimits, signal: AbortSignal): Promise<Buffer | string> {
  const addresses = await checkedAddresses(hostOf(url), limits.resolve ?? resolveByDns, limits.allowed ?? []);
  signal.throwIfAborted();
  const connect = buildConnector({ lookup: pinnedLookup(addresses), timeout: limits.deadlineMs, ...(limits.ca && { ca: limits.ca }) });
  const client = new Client(url.origin, { connect, maxHeaderSize: MAX_HEADER_BYTES, allowH2: false });
  const cut = (): void => void client.destroy();
  signal.addEventListener('abort', cut, { once: true }); // undici looks at a request's own signal only once it is connected
  try {
    const headers = { accept: limits.accept, 'accept-encoding': 'identity' };
    const { statusCode, headers: answer, body } = await client.request({ method: 'GET', path: url.pathname + url.search, headers });
    if (REDIRECTS.has(statusCode) && typeof answer.location === 'string') return answer.location;
    if (statusCode !== 200) throw new FetchRefused('status', 'did not answer with 200');
    return await bodyOf(body, limits.maxBytes);
  } finally {
    signal.removeEventListener('abort', cut);
    await client.destroy();
  }
}

/**
 * GETs what a foreign URL leads to, without cookies and credentials. Names are resolved by us, every address judged, and only judged
 * addresses can be connected to, also after redirects. @throws FetchRefused, nothing else.
 */
export async function guardedFetch(text: string, limits: FetchLimits): Promise<Buffer> {
  const signal = AbortSignal.timeout(limits.deadlineMs);
  let late: (() => void) | undefined;
  const deadline = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', (late = () => reject(signal.reason as Error)), { once: true }),
  );
  try {
    return await Promise.race([follow(text, limits, signal), deadline]);
  } catch (error) {
    throw error instanceof FetchRefused ? error : new FetchRefused('unreachable', 'cannot be fetched', { cause: error });
  } finally {
    signal.removeEventListener('abort', late!);
  }
}

async function follow(text: string, limits: FetchLimits, signal: AbortSignal): Promise<Buffer> {
  let url = judged(text, undefined, limits.allowed ?? []);
  for (let redirects = 0; ; redirects++) {
    const answer = await hop(url, limits, signal);
    if (typeof answer !== 'string') return answer;
    if (redirects >= limits.redirects) throw new FetchRefused('redirects', `must lead there with at most ${limits.redirects} redirects`);
    url = judged(answer, url, limits.allowed ?? []);
  }
}
