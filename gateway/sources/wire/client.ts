import type { WireAnswer } from './answer.js';
import { WireConnection, type Flight } from './connection.js';

/** Requests under way on each connection before another connection is opened. */
const DEPTH = 16;
const MAX_CONNECTIONS = 64;

/**
 * Pipelined HTTP/1.1 to one origin, for quick reads only, because an answer waits for those before it. Several requests in one write take
 * half of the CPU time of a connection for each: a small call costs the gateway 27 µs instead of 57. Source: RFC 9112, 9.3.2; bench/transport.mjs.
 */
export class WireClient {
  readonly #connections: WireConnection[] = [];

  constructor(
    private readonly origin: URL,
    private readonly maxBytes: number,
  ) {}

  /**
   * An aborted signal closes the connection, so that the service stops its work; the connection's other requests then fail as Unanswered.
   * @throws Unanswered, the signal's reason, or Error of the connection.
   */
  send(text: string, signal: AbortSignal): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      const connection = this.#choose();
      const abort = (): void => {
        reject(signal.reason as Error);
        connection.end(new Error('another request ended the connection'), flight);
      };
      const flight: Flight = {
        text,
        answered: answer => {
          signal.removeEventListener('abort', abort);
          resolve(answer);
        },
        failed: error => {
          signal.removeEventListener('abort', abort);
          reject(error);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      connection.send(flight);
    });
  }

  /** The least loaded connection, or a new one when all are full. */
  #choose(): WireConnection {
    let least: WireConnection | undefined;
    for (const one of this.#connections) if (!least || one.load < least.load) least = one;
    if (least && (least.load < DEPTH || this.#connections.length >= MAX_CONNECTIONS)) return least;
    return this.#open();
  }

  #open(): WireConnection {
    const { hostname, port } = this.origin;
    const connection = new WireConnection({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || 80),
      maxBytes: this.maxBytes,
      closed: one => this.#connections.splice(this.#connections.indexOf(one), 1),
    });
    this.#connections.push(connection);
    return connection;
  }

  close(): void {
    while (this.#connections.length > 0) this.#connections[0]!.end(new Error('the client is closed')); // its end removes it
  }
}
