import pg from 'pg';
import { nameOf } from '../../events/prepared.js';

const BEGIN = 'begin';
const BEGUN = { command: 'BEGIN', rowCount: null, rows: [] };
const ENDS = new Set(['commit', 'rollback']);

/** The protocol's messages, as `pg` sends them. `parsedStatements`: texts by name that the server has parsed. */
interface Protocol {
  bind(message: { statement: string }): void;
  execute(message: object): void;
  parsedStatements: Record<string, string | undefined>;
}

/** Methods of a query that `@types/pg` leaves out. */
interface QueryInternals {
  prepare(connection: Protocol): void;
  handleCommandComplete(message: unknown, connection: Protocol): void;
}

interface Statement {
  text: string;
  values?: unknown[];
  name?: string;
}

const Query = pg.Query as unknown as new (statement: Statement, values: undefined, done: Done) => QueryInternals;
type Done = (error: Error | null, result: unknown) => void;

/** A transaction's `begin` and its first statement in one message. If the statement fails, the transaction has failed, as when they are sent apart. */
class FirstStatement extends Query {
  #begun = false;

  requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: Protocol): void {
    connection.bind({ statement: BEGIN });
    connection.execute({});
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: Protocol): void {
    if (this.#begun) super.handleCommandComplete(message, connection);
    this.#begun = true;
  }
}

/** A client of `pg`, as its pool opens it. */
export interface PgClient {
  query: (...args: any[]) => any;
  connection: Protocol;
}

const sendFirst = (client: PgClient, query: PgClient['query'], statement: Statement): Promise<unknown> =>
  new Promise((resolve, reject) =>
    query.call(client, new FirstStatement(statement, undefined, (error, result) => (error ? reject(error) : resolve(result)))),
  );

/** Several statements in one text need the simple protocol, which has no `begin` in the same message. */
const isSingle = (text: string): boolean => !text.includes(';');

/**
 * Saves round trips of a connection: `begin` is held back and sent with the transaction's first statement, a transaction without a
 * statement sends nothing, and `prepared` statements are sent by name. A transaction of one or two statements takes 0.75-0.95 of the time and
 * 0.76-0.85 of PostgreSQL's CPU time without it, a prepared statement 0.6 and 0.5 (`npm run bench:database`). tests/runtime/round-trips.test.ts
 * watches the messages, and fails when a version of `pg`, Kysely or MikroORM sends others.
 */
export function saveRoundTrips(client: PgClient): void {
  const inherited = (): PgClient['query'] => (Object.getPrototypeOf(client) as PgClient).query; // looked up at each call, because tests spy on it
  const own = Object.hasOwn(client, 'query') ? client.query : null;
  const send: PgClient['query'] = (...args) => (own ?? inherited()).apply(client, args);
  let waiting = false;
  client.query = (...args: unknown[]) => {
    const [text, values] = args;
    if (typeof text !== 'string' || typeof args.at(-1) === 'function') return afterBegin(() => send(...args));
    return text === BEGIN ? begin() : statement(text, (values ?? []) as unknown[]);
  };

  /** A connection's first `begin` is sent alone, so that the server has parsed it by its name. */
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

  /** Sends a held `begin` before a query that cannot carry it. */
  function afterBegin<T>(then: () => T): T {
    if (waiting) void (send(BEGIN) as Promise<unknown>).catch(() => undefined); // the query after it fails as well
    waiting = false;
    return then();
  }
}
