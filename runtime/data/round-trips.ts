import pg from 'pg';
import { nameOf } from '../../events/prepared.js';

const BEGIN = 'begin';
const BEGUN = { command: 'BEGIN', rowCount: null, rows: [] };
const ENDS = new Set(['commit', 'rollback']);

interface Wire {
  bind(message: { statement: string }): void;
  execute(message: object): void;
  parsedStatements: Record<string, string | undefined>;
}

/** What `@types/pg` leaves out of a statement on its way to the server. */
interface Sending {
  prepare(connection: Wire): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
}

interface Statement {
  text: string;
  values?: unknown[];
  name?: string;
}

const Query = pg.Query as unknown as new (statement: Statement, values: undefined, done: Done) => Sending;
type Done = (error: Error | null, result: unknown) => void;

/** A transaction's first statement with the transaction's begin before it, in one message: if it fails, the transaction has failed. */
class FirstStatement extends Query {
  #begun = false;

  requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: Wire): void {
    connection.bind({ statement: BEGIN });
    connection.execute({});
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#begun) super.handleCommandComplete(message, connection);
    this.#begun = true;
  }
}

/** A connection of `pg`, as its driver uses it. */
export interface Conversing {
  query: (...args: any[]) => any;
  connection: Wire;
}

const sendFirst = (client: Conversing, query: Conversing['query'], statement: Statement): Promise<unknown> =>
  new Promise((resolve, reject) =>
    query.call(client, new FirstStatement(statement, undefined, (error, result) => (error ? reject(error) : resolve(result)))),
  );

/** Several statements in one text are the simple protocol's alone. */
const isSingle = (text: string): boolean => !text.includes(';');

/**
 * Saves a connection's round trips: `begin` waits for the transaction's first statement and travels with it, and `prepared` statements go
 * by name. A write to a socket wakes the server: it was 57 % of a consumer's time.
 */
export function saveRoundTrips(client: Conversing): void {
  const inherited = (): Conversing['query'] => (Object.getPrototypeOf(client) as Conversing).query; // looked up anew, because tests watch it there
  const own = Object.hasOwn(client, 'query') ? client.query : null;
  const send: Conversing['query'] = (...args) => (own ?? inherited()).apply(client, args);
  let waiting = false;
  client.query = (...args: unknown[]) => {
    const [text, values] = args;
    if (typeof text !== 'string' || typeof args.at(-1) === 'function') return afterBegin(() => send(...args));
    return text === BEGIN ? begin() : statement(text, (values ?? []) as unknown[]);
  };

  /** A connection's first one goes by itself, so that the server knows it by name. */
  function begin(): Promise<unknown> {
    waiting = client.connection.parsedStatements[BEGIN] !== undefined;
    return waiting ? Promise.resolve(BEGUN) : send({ name: BEGIN, text: BEGIN });
  }

  function statement(text: string, values: unknown[]): Promise<unknown> {
    const name = nameOf(text);
    if (!waiting) return send(name ? { name, text, values } : text, ...(name ? [] : [values]));
    if (!isSingle(text)) return afterBegin(() => send(text, values));
    waiting = false;
    if (ENDS.has(text)) return Promise.resolve({ command: text.toUpperCase(), rowCount: null, rows: [] });
    return sendFirst(client, send, { text, values, ...(name && { name }) });
  }

  /** Whatever cannot carry it has it sent before. */
  function afterBegin<T>(then: () => T): T {
    if (waiting) void (send(BEGIN) as Promise<unknown>).catch(() => undefined); // what follows fails as well
    waiting = false;
    return then();
  }
}
