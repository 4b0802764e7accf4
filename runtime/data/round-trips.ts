import pg from 'pg';
import { isLastOfTransaction, nameOf } from '../../events/prepared.js';

const [BEGIN, COMMIT] = ['begin', 'commit'];
const ENDS = new Set([COMMIT, 'rollback']);
const answerOf = (text: string) => ({ command: text.toUpperCase(), rowCount: null, rows: [] });

/** The protocol's messages, as `pg` sends them. `parsedStatements`: texts by name that the server has parsed. */
interface Protocol {
  bind(message: { statement: string }): void;
  execute(message: object): void;
  sync(): void;
  parsedStatements: Record<string, string | undefined>;
}

/** Methods of a query that `@types/pg` leaves out. */
interface QueryInternals {
  portal?: string;
  prepare(connection: Protocol): void;
  _getRows(connection: Protocol, rows: unknown): void;
  handleCommandComplete(message: unknown, connection: Protocol): void;
}

interface Statement {
  text: string;
  values?: unknown[];
  name?: string;
}

const Query = pg.Query as unknown as new (statement: Statement, values: undefined, done: Done) => QueryInternals;
type Done = (error: Error | null, result: unknown) => void;

/** What is sent in a statement's message beside it. */
interface Beside {
  begin: boolean;
  commit: boolean;
}

/**
 * A transaction's `begin` with its first statement, or its `commit` with the last one, in one message. If the statement fails, the
 * transaction has failed, as when they are sent apart: the server passes over the rest of the message.
 */
class WithBounds extends Query {
  #completed = 0;

  constructor(
    statement: Statement,
    private readonly beside: Beside,
    done: Done,
  ) {
    super(statement, undefined, done);
  }

  requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: Protocol): void {
    if (this.beside.begin) this.#run(connection, BEGIN);
    super.prepare(connection);
  }

  override _getRows(connection: Protocol, rows: unknown): void {
    if (!this.beside.commit) return super._getRows(connection, rows);
    connection.execute({ portal: this.portal });
    this.#run(connection, COMMIT);
    connection.sync();
  }

  #run(connection: Protocol, statement: string): void {
    connection.bind({ statement });
    connection.execute({});
  }

  override handleCommandComplete(message: unknown, connection: Protocol): void {
    const own = this.beside.begin ? 1 : 0;
    if (this.#completed++ === own) super.handleCommandComplete(message, connection);
  }
}

/** A client of `pg`, as its pool opens it. */
export interface PgClient {
  query: (...args: any[]) => any;
  connection: Protocol;
}

const sendWith = (beside: Beside, client: PgClient, query: PgClient['query'], statement: Statement): Promise<unknown> =>
  new Promise((resolve, reject) =>
    query.call(client, new WithBounds(statement, beside, (error, result) => (error ? reject(error) : resolve(result)))),
  );

/** Several statements in one text need the simple protocol, which has no `begin` in the same message. */
const isSingle = (text: string): boolean => !text.includes(';');

/**
 * Saves round trips of a connection: `begin` is held back and sent with the transaction's first statement, `commit` with a statement that
 * says it is the last, a transaction without a statement sends nothing, and `prepared` statements are sent by name. A transaction of one or
 * two statements takes 0.75-0.95 of the time and 0.76-0.85 of PostgreSQL's CPU time without it, a prepared statement 0.6 and 0.5
 * (`npm run bench:database`). tests/runtime/round-trips.test.ts watches the messages, and fails when a version of `pg`, Kysely or MikroORM
 * sends others.
 */
export function saveRoundTrips(client: PgClient): void {
  const inherited = (): PgClient['query'] => (Object.getPrototypeOf(client) as PgClient).query; // looked up at each call, because tests spy on it
  const own = Object.hasOwn(client, 'query') ? client.query : null;
  const send: PgClient['query'] = (...args) => (own ?? inherited()).apply(client, args);
  const isParsed = (name: string): boolean => client.connection.parsedStatements[name] !== undefined;
  let waiting = false;
  let open = false;
  let ended = false;
  client.query = (...args: unknown[]) => {
    const [text, values] = args;
    if (typeof text !== 'string' || typeof args.at(-1) === 'function') return afterBegin(() => send(...args));
    return text === BEGIN ? begin() : statement(text, (values ?? []) as unknown[]);
  };

  /** A connection's first `begin` is sent alone, so that the server has parsed it by its name. */
  function begin(): Promise<unknown> {
    waiting = isParsed(BEGIN);
    open = true;
    return waiting ? Promise.resolve(answerOf(BEGIN)) : send({ name: BEGIN, text: BEGIN });
  }

  /** So is its first `commit`. One whose transaction sent nothing, or has ended with its last statement, sends nothing. */
  function end(text: string): Promise<unknown> {
    const isSent = !waiting && !ended;
    waiting = open = ended = false;
    if (!isSent) return Promise.resolve(answerOf(text));
    return text === COMMIT && !isParsed(COMMIT) ? send({ name: COMMIT, text }) : send(text);
  }

  async function last(statement: Statement, begin: boolean): Promise<unknown> {
    const result = await sendWith({ begin, commit: true }, client, send, statement);
    ended = true;
    return result;
  }

  function statement(text: string, values: unknown[]): Promise<unknown> {
    if (ENDS.has(text)) return end(text);
    if (ended) return Promise.reject(new Error('a statement came after the last one of its transaction'));
    if (waiting && !isSingle(text)) return afterBegin(() => send(text, values));
    const [name, begin] = [nameOf(text), waiting];
    const named = { text, values, ...(name && { name }) };
    waiting = false;
    if (open && isLastOfTransaction(text) && isParsed(COMMIT)) return last(named, begin);
    if (begin) return sendWith({ begin, commit: false }, client, send, named);
    return name ? send(named) : send(text, values);
  }

  /** Sends a held `begin` before a query that cannot carry it. */
  function afterBegin<T>(then: () => T): T {
    if (waiting) void (send(BEGIN) as Promise<unknown>).catch(() => undefined); // the query after it fails as well
    waiting = false;
    return then();
  }
}
