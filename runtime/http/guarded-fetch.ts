import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { checkedAddresses, pinnedLookup, resolveByDns, type Resolve } from './checked-addresses.js';
import { addressFault, hostOf, pageFault } from './outside-url.js';
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
  /** Over the connection alone, ms; default the whole deadline. */
  connectMs?: number;
  /** Hosts, with their ports where they have one, that alone are asked, after redirects too; default any. */
  hosts?: readonly string[];
}

/** What a page of the web may be, beside {@link FetchLimits}. */
export interface PageLimits extends FetchLimits {
  /** Reading stops where this text has come, for example `</head>`; in lower case. */
  stopAt: string;
}

/** As much of a page as was read. */
export interface FetchedPage {
  /** After redirects. */
  url: string;
  status: number;
  /** Lower case, without parameters; empty for none. */
  type: string;
  /** Decompressed. */
  bytes: Buffer;
  /** `cut`: there is more than `maxBytes`; `late`: the deadline came. */
  end: 'whole' | 'cut' | 'late';
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

/** The answer was no 200. */
export class FetchStatus extends FetchRefused {
  constructor(
    readonly status: number,
    /** The header as it came. */
    readonly retryAfter: string | null,
  ) {
    super('status', 'did not answer with 200');
  }
}

const MAX_HEADER_BYTES = 16_384;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function judged(text: string, base: URL | undefined, { allowed = [], hosts }: FetchLimits): URL {
  const fault = addressFault(text, allowed, base);
  if (fault !== null) throw new FetchRefused('address', fault);
  const url = new URL(text, base);
  if (hosts && !hosts.includes(url.host)) throw new FetchRefused('address', 'must lead to a host that is named');
  return url;
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

/** A client of one connection that can only reach the addresses that were judged. */
async function clientFor(url: URL, limits: FetchLimits, signal: AbortSignal): Promise<Client> {
  const addresses = await checkedAddresses(hostOf(url), limits.resolve ?? resolveByDns, limits.allowed ?? []);
  signal.throwIfAborted();
  const timeout = limits.connectMs ?? limits.deadlineMs;
  const connect = buildConnector({ lookup: pinnedLookup(addresses), timeout, ...(limits.ca && { ca: limits.ca }) });
  return new Client(url.origin, { connect, maxHeaderSize: MAX_HEADER_BYTES, allowH2: false });
}

/** One GET, whose answer `read` takes; a redirect's address as text. */
async function hop<Answer>(
  url: URL,
  limits: FetchLimits,
  signal: AbortSignal,
  { encodings, read }: { encodings: string; read: (answer: Dispatcher.ResponseData) => Promise<Answer> },
): Promise<Answer | string> {
  const client = await clientFor(url, limits, signal);
  const cut = (): void => void client.destroy();
  signal.addEventListener('abort', cut, { once: true }); // undici looks at a request's own signal only once it is connected
  try {
    const headers = { accept: limits.accept, 'accept-encoding': encodings };
    const answer = await client.request({ method: 'GET', path: url.pathname + url.search, headers });
    if (REDIRECTS.has(answer.statusCode) && typeof answer.headers.location === 'string') return answer.headers.location;
    return await read(answer);
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
  const read = async ({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Buffer> => {
    if (statusCode !== 200) throw new FetchStatus(statusCode, headers['retry-after']?.toString() ?? null);
    return bodyOf(body, limits.maxBytes);
  };
  let url = judged(text, undefined, limits);
  for (let redirects = 0; ; redirects++) {
    const answer = await hop(url, limits, signal, { encodings: 'identity', read });
    if (typeof answer !== 'string') return answer;
    if (redirects >= limits.redirects) throw new FetchRefused('redirects', `must lead there with at most ${limits.redirects} redirects`);
    url = judged(answer, url, limits);
  }
}

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/** The body as it is meant; null for a coding that was not asked for. */
function decodedBody({ headers, body }: Dispatcher.ResponseData): Readable | null {
  const coding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (coding === 'identity') return body;
  const decoder = DECODERS[coding]?.();
  if (!decoder) return null;
  body.on('error', error => (decoder as unknown as Readable).destroy(error));
  return body.pipe(decoder) as unknown as Readable;
}

/** Reads until the text that ends it, the limit or the deadline; what was read until then is kept. */
async function partOf(
  answer: Dispatcher.ResponseData,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<Pick<FetchedPage, 'bytes' | 'end'>> {
  const chunks: Buffer[] = [];
  let [size, tail] = [0, ''];
  try {
    for await (const chunk of decodedBody(answer) ?? []) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      const text = tail + (chunk as Buffer).toString('latin1').toLowerCase();
      if (text.includes(limits.stopAt)) break;
      if (size > limits.maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, limits.maxBytes), end: 'cut' };
      tail = text.slice(-limits.stopAt.length);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return { bytes: Buffer.concat(chunks), end: 'late' };
  }
  return { bytes: Buffer.concat(chunks), end: declaredOf(answer) > limits.maxBytes ? 'cut' : 'whole' };
}

const declaredOf = ({ headers }: Dispatcher.ResponseData): number => Number(headers['content-length'] ?? 0);

function judgedPage(text: string, base: URL | undefined, allowed: readonly Network[]): URL {
  const fault = pageFault(text, allowed, base);
  if (fault !== null) throw new FetchRefused('address', fault);
  return new URL(text, base);
}

/** From https a redirect never leads to http. */
function judgedRedirect(text: string, from: URL, allowed: readonly Network[]): URL {
  const to = judgedPage(text, from, allowed);
  if (from.protocol === 'https:' && to.protocol !== 'https:') throw new FetchRefused('address', 'must not lead from https to http');
  return to;
}

/**
 * GETs the beginning of a page of the web, as {@link guardedFetch} does, with what a page may be: http on port 80, compressed, longer than
 * the limit, or slower; the host must have a public suffix. @throws FetchRefused; `unreachable` with its cause.
 */
export async function guardedPage(text: string, limits: PageLimits): Promise<FetchedPage> {
  const signal = AbortSignal.timeout(limits.deadlineMs);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(signal.reason as Error), limits.deadlineMs + GRACE_MS); // for a look-up that heeds no signal
  });
  try {
    return await Promise.race([followPage(text, limits, signal), late]);
  } catch (error) {
    throw error instanceof FetchRefused
      ? error
      : new FetchRefused('unreachable', 'cannot be fetched', { cause: signal.aborted ? signal.reason : error });
  } finally {
    clearTimeout(timer);
  }
}

/** What is read until the deadline is kept, which takes a moment. */
const GRACE_MS = 250;

async function followPage(text: string, limits: PageLimits, signal: AbortSignal): Promise<FetchedPage> {
  let url = judgedPage(text, undefined, limits.allowed ?? []);
  const read = async (answer: Dispatcher.ResponseData) => ({
    status: answer.statusCode,
    type: String(answer.headers['content-type'] ?? '')
      .split(';')[0]!
      .trim()
      .toLowerCase(),
    ...(await partOf(answer, limits, signal)),
  });
  for (let redirects = 0; ; redirects++) {
    const answer = await hop(url, limits, signal, { encodings: 'gzip, br, deflate', read });
    if (typeof answer !== 'string') return { url: url.href, ...answer };
    if (redirects >= limits.redirects) throw new FetchRefused('redirects', `must lead there with at most ${limits.redirects} redirects`);
    url = judgedRedirect(answer, url, limits.allowed ?? []);
  }
}
