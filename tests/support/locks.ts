import pg from 'pg';
import type { Answer, TestPlatform } from './platform.js';
import { until } from './until.js';

type Statement = [text: string, values: unknown[]];

interface Case {
  /** Locks what the call takes first, in another transaction. */
  held: Statement;
  /** A word of the statement in which the call then waits. */
  waitsIn: string;
  /** Locks without waiting what the call takes later: it fails where the call has it already. */
  free: Statement;
}

const WAITING = `select count(*)::int as n from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query like '%' || $1 || '%'`;

/** A transaction waits for a lock in a statement with this word. */
export const waitingIn = (p: Pick<TestPlatform, 'sql'>, word: string): Promise<unknown> =>
  until(
    `one that waits in ${word}`,
    () => p.sql(WAITING, [word]),
    ([row]) => row.n > 0,
  );

/** Sees that a call takes its rows in one order: while another transaction holds the first one, the later ones are free. */
export async function locksInOrder(p: TestPlatform, { held, waitsIn, free }: Case, call: () => Promise<Answer>): Promise<Answer> {
  const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(...held);
    const answer = call();
    await waitingIn(p, waitsIn);
    await other.query(...free);
    await other.query('commit');
    return await answer;
  } finally {
    await other.end();
  }
}
