import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import { buildConnector, Client } from 'undici';
import type { Network } from '../../../runtime/http/public-address.js';
import { checkedAddresses, pinnedLookup, type Resolve } from '../../../runtime/http/checked-addresses.js';

/** Connecting, name resolution and TLS included, ms. Source: rule 17. */
const CONNECT_MS = 5_000;
/** A connection that is not used for so long is closed. Many servers close after 5 s; a request on a connection that is just being closed would count as a failed attempt. */
const IDLE_MS = 4_000;
/** A server may ask for longer, up to the limit. Source: rule 16. */
const MAX_IDLE_MS = 30_000;
/** Idle connections kept in all, about 20 KB each: an event to ten thousand endpoints would leave as many open. */
const MAX_IDLE = 512;
/** Bytes of an answer's headers. Source: rule 17. */
const MAX_HEADER_BYTES = 16_384;

/** How the connection that carries a request came about. */
export interface ConnectionFacts {
  address: string | null;
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
}

export interface ConnectionSetting {
  resolve: Resolve;
  allowed: readonly Network[];
  /** Certificate authorities besides the public ones; tests only. */
  ca?: string;
}

type ConnectOptions = Parameters<buildConnector.connector>[0];
type ConnectCallback = Parameters<buildConnector.connector>[1];

const isTls = (socket: Socket): boolean => 'encrypted' in socket;

/**
 * One kept-alive connection to one origin. Before each new TCP connection the name is resolved and every answer judged; the
 * connector can reach only those answers. HTTP/1.1, TLS 1.2 and later, public roots, certificate and SNI for the host name.
 */
export class Connection {
  readonly client: Client;
  facts: ConnectionFacts | null = null;
  #used = false;

  constructor(
    readonly origin: string,
    private readonly setting: ConnectionSetting,
    onClosed: (connection: Connection) => void,
  ) {
    this.client = new Client(origin, {
      connect: (options, callback) => void this.#connect(options, callback),
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      allowH2: false,
    });
    this.client.on('disconnect', () => {
      this.facts = null;
      onClosed(this);
    });
  }

  /** Facts of the connection for the request that made it; a later request on it has its address only. */
  take(): ConnectionFacts {
    const { facts } = this;
    const first = !this.#used;
    this.#used = true;
    if (!facts) return { address: null, dnsMs: null, connectMs: null, tlsMs: null };
    return first ? facts : { address: facts.address, dnsMs: null, connectMs: null, tlsMs: null };
  }

  async #connect(options: ConnectOptions, callback: ConnectCallback): Promise<void> {
    this.#used = false;
    const started = performance.now();
    try {
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      const addresses = await within(CONNECT_MS, checkedAddresses(host, this.setting.resolve, this.setting.allowed));
      this.#open(addresses, isIP(host) ? null : Math.round(performance.now() - started), options, callback);
    } catch (error) {
      callback(error as Error, null);
    }
  }

  #open(addresses: readonly string[], dnsMs: number | null, options: ConnectOptions, callback: ConnectCallback): void {
    const { ca } = this.setting;
    const connector = buildConnector({
      timeout: CONNECT_MS - (dnsMs ?? 0),
      lookup: pinnedLookup(addresses),
      minVersion: 'TLSv1.2',
      maxCachedSessions: 0,
      ...(ca && { ca }),
    } as buildConnector.BuildOptions);
    const started = performance.now();
    let tcpAt: number | null = null;
    const socket = connector(options, ((error: Error | null, made: Socket | null) => {
      if (error || !made) return callback(error ?? new Error('no socket'), null);
      const [now, tls] = [performance.now(), isTls(made)];
      const connected = tls ? (tcpAt ?? now) : now;
      this.facts = {
        address: made.remoteAddress ?? null,
        dnsMs,
        connectMs: Math.round(connected - started),
        tlsMs: tls ? Math.round(now - connected) : null,
      };
      callback(null, made);
    }) as ConnectCallback) as unknown as Socket;
    socket.once('connect', () => (tcpAt = performance.now()));
  }
}

/** @throws the connect time-out of undici when work takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>(
    (_, reject) =>
      (timer = setTimeout(
        () => reject(Object.assign(new Error('the name was not resolved in time'), { code: 'UND_ERR_CONNECT_TIMEOUT' })),
        ms,
      )),
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Connections by origin; one request at a time on each. */
export class Connections {
  readonly #idle = new Map<string, Connection[]>();
  /** All idle ones, the longest idle first. */
  readonly #waiting = new Set<Connection>();
  readonly #all = new Set<Connection>();

  constructor(private readonly setting: ConnectionSetting) {}

  acquire(origin: string): Connection {
    const connection = this.#idle.get(origin)?.at(-1);
    if (connection) this.#unlist(connection);
    return connection ?? this.#make(origin);
  }

  #make(origin: string): Connection {
    const made = new Connection(origin, this.setting, closed => this.#forget(closed));
    this.#all.add(made);
    return made;
  }

  /** Gives a connection back; one that is broken or idle for too long goes, and the longest idle when there are too many. */
  release(connection: Connection): void {
    if (connection.client.destroyed || !connection.client.stats.connected) return this.#drop(connection);
    this.#idle.set(connection.origin, [...(this.#idle.get(connection.origin) ?? []), connection]);
    this.#waiting.add(connection);
    const [oldest] = this.#waiting;
    if (this.#waiting.size > MAX_IDLE && oldest) this.#forget(oldest);
  }

  /** A connection that carries a request is not among the idle ones; whoever holds it gives it back. */
  #forget(connection: Connection): void {
    if (!this.#waiting.has(connection)) return;
    this.#unlist(connection);
    this.#drop(connection);
  }

  #unlist(connection: Connection): void {
    this.#waiting.delete(connection);
    const rest = this.#idle.get(connection.origin)!.filter(one => one !== connection);
    if (rest.length) this.#idle.set(connection.origin, rest);
    else this.#idle.delete(connection.origin);
  }

  #drop(connection: Connection): void {
    this.#all.delete(connection);
    void connection.client.destroy();
  }

  async close(): Promise<void> {
    const all = [...this.#all];
    this.#all.clear();
    this.#idle.clear();
    this.#waiting.clear();
    await Promise.all(all.map(connection => connection.client.destroy()));
  }
}
