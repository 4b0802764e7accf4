import pg from 'pg';
import { isLastOfTransaction, nameOf } from '../../events/prepared.js';

/** Told to a connection in a transaction that only writes from here to its commit: what nobody waits for is kept, and sent with the next statement. */
export const GATHER = 'gather';

const [BEGIN, COMMIT] = ['begin', 'commit'];
const ENDS = new Set([COMMIT, 'rollback']);
const answerOf = (text: string) => ({ command: text.toUpperCase(), rowCount: null, rows: [] });

/** The protocol's messages, as `pg` sends them. `parsedStatements`: texts by name that the server has parsed. */
interface Protocol {
  parse(message: { text: string }): void;
  bind(message: { statement?: string }): void;
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
  /** Statements before it, which answer nothing. */
  before: readonly string[];
  commit: boolean;
}

/**
 * A transaction's `begin` with its first statement, what was gathered before a statement, or the `commit` with the last one, in one message.
 * If a statement fails, the transaction has failed, as when they are sent apart: the server passes over the rest of the message.
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
    for (const text of this.beside.before) {
      connection.parse({ text });
      this.#run(connection);
    }
    super.prepare(connection);
  }

  override _getRows(connection: Protocol, rows: unknown): void {
    if (!this.beside.commit) return super._getRows(connection, rows);
    connection.execute({ portal: this.portal });
    this.#run(connection, COMMIT);
    connection.sync();
  }

  /** @param statement name of one that is parsed; else the one parsed last. */
  #run(connection: Protocol, statement?: string): void {
    connection.bind({ statement });
    connection.execute({});
  }

  override handleCommandComplete(message: unknown, connection: Protocol): void {
    const own = (this.beside.begin ? 1 : 0) + this.beside.before.length;
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

/** As the ORM writes rows, with the values in the text, where it expects no answer. A value may hold the word; it is then sent as ever. */
const isWrite = (text: string): boolean =>
  /^(?:insert into|update|delete from) "/.test(text) && !/\breturning\b/i.test(text) && isSingle(text);
const WRITTEN = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const;
const writtenBy = (text: string) => ({ command: WRITTEN[text.slice(0, 6) as keyof typeof WRITTEN], rowCount: 1, rows: [] });

/**
 * Saves round trips of a connection: `begin` is held back and sent with the transaction's first statement, `commit` with a statement that
 * says it is the last, a transaction without a statement sends nothing, rows that are written before the commit are sent with what follows
 * (their error is then that of what follows), and `prepared` statements are sent by name. A transaction of one or
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
  let gathers = false;
  let gathered: string[] = [];
  client.query = (...args: unknown[]) => {
    const [text, values] = args;
    if (typeof text !== 'string' || typeof args.at(-1) === 'function') return afterBegin(() => send(...args));
    if (text === GATHER) return Promise.resolve(answerOf(((gathers = open), text)));
    return text === BEGIN ? begin() : statement(text, (values ?? []) as unknown[]);
  };

  /** A connection's first `begin` is sent alone, so that the server has parsed it by its name. */
  function begin(): Promise<unknown> {
    waiting = isParsed(BEGIN);
    open = true;
    return waiting ? Promise.resolve(answerOf(BEGIN)) : send({ name: BEGIN, text: BEGIN });
  }

  /** So is its first `commit`. One whose transaction sent nothing, or has ended with its last statement, sends nothing. */
  async function end(text: string): Promise<unknown> {
    if (text === COMMIT) await sendGathered();
    const isSent = !waiting && !ended;
    gathered = [];
    waiting = open = ended = gathers = false;
    if (!isSent) return answerOf(text);
    return text === COMMIT && !isParsed(COMMIT) ? send({ name: COMMIT, text }) : send(text);
  }

  /** What goes with the next statement, and is then sent. */
  function beside(commit: boolean): Beside {
    const taken = { begin: waiting, before: gathered, commit };
    [waiting, gathered] = [false, []];
    return taken;
  }

  async function sendGathered(): Promise<void> {
    const text = gathered.pop();
    if (text !== undefined) await sendWith(beside(false), client, send, { text });
  }

  async function last(named: Statement): Promise<unknown> {
    const result = await sendWith(beside(true), client, send, named);
    ended = true;
    return result;
  }

  function statement(text: string, values: unknown[]): Promise<unknown> {
    if (ENDS.has(text)) return end(text);
    if (ended) return Promise.reject(new Error('a statement came after the last one of its transaction'));
    if (gathers && values.length === 0 && isWrite(text)) return Promise.resolve((gathered.push(text), writtenBy(text)));
    const name = nameOf(text);
    if (gathered.length > 0 && (!isSingle(text) || (name && !isParsed(name)))) return sendGathered().then(() => single(text, values, name));
    return single(text, values, name);
  }

  function single(text: string, values: unknown[], name: string | undefined): Promise<unknown> {
    if (waiting && !isSingle(text)) return afterBegin(() => send(text, values));
    const named = { text, values, ...(name && { name }) };
    if (open && isLastOfTransaction(text) && isParsed(COMMIT)) return last(named);
    if (waiting || gathered.length > 0) return sendWith(beside(false), client, send, named);
    return name ? send(named) : send(text, values);
  }

  /** Sends what is held back before a query that cannot carry it. */
  function afterBegin<T>(then: () => T): T {
    void sendGathered().catch(() => undefined); // the query after it fails as well
    if (waiting) void (send(BEGIN) as Promise<unknown>).catch(() => undefined);
    waiting = false;
    return then();
  }
}
