import { AsyncLocalStorage } from 'node:async_hooks';
import { connect } from 'node:net';

/** What ends the work that runs here; null: nothing does. */
const life = new AsyncLocalStorage<AbortSignal | null>();

/** Runs work whose statements end on the server when the signal is aborted. */
export const endedBy = <T>(signal: AbortSignal | null, work: () => Promise<T>): Promise<T> => life.run(signal, work);

/** The signal of the work that runs here. */
export const currentSignal = (): AbortSignal | null => life.getStore() ?? null;

/** A connection of `pg`, with what its types leave out: how the server knows it. */
export interface Cancellable {
  query: (...args: any[]) => any;
  host: string;
  port: number;
  processID?: number;
  secretKey?: number;
}

const CANCEL_REQUEST = 80877102;
/** A server that does not answer a cancel request in this time will not, ms. */
const CANCEL_MS = 2_000;

/**
 * Asks the server to end what a connection runs. `pg_cancel_backend` would be refused, because our connections act as another role
 * than they logged in with; the protocol's own request needs no role. Ends when the server has taken it. Source: PostgreSQL 54.2.8.
 */
function cancel({ host, port, processID, secretKey }: Cancellable): Promise<void> {
  const message = Buffer.alloc(16);
  [16, CANCEL_REQUEST, processID!, secretKey!].forEach((word, at) => message.writeInt32BE(word | 0, at * 4));
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  return new Promise(resolve => {
    socket.setTimeout(CANCEL_MS, () => socket.destroy());
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.end(message);
    socket.resume();
  });
}

/** Sends a statement, and a cancel request when the signal is aborted before its result; the connection is free when both are through. */
async function cancellable(client: Cancellable, signal: AbortSignal, send: () => Promise<unknown>): Promise<unknown> {
  signal.throwIfAborted();
  const cancelled: Promise<void>[] = [];
  const abort = (): void => void cancelled.push(cancel(client));
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await send();
  } finally {
    signal.removeEventListener('abort', abort);
    await Promise.all(cancelled); // else it could meet the next statement of this connection
  }
}

/** What was begun is undone in any case. */
const isRollback = (statement: unknown): boolean => typeof statement === 'string' && /^rollback\b/i.test(statement);

/** Makes the statements of a connection end with the work that they belong to. */
export function cancelStatements(client: Cancellable): void {
  const own = Object.hasOwn(client, 'query') ? client.query : null;
  const inherited = (): Cancellable['query'] => (Object.getPrototypeOf(client) as Cancellable).query; // looked up anew, because tests watch it there
  const query: Cancellable['query'] = (...args) => (own ?? inherited()).apply(client, args);
  client.query = (...args: unknown[]) => {
    const signal = life.getStore();
    if (!signal || typeof args.at(-1) === 'function' || isRollback(args[0])) return query(...args);
    return cancellable(client, signal, () => query(...args) as Promise<unknown>);
  };
}
