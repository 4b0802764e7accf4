import pg from 'pg';
import type { Context, ServiceHost } from '../../runtime/request/context.js';
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

/** Some transactions wait for a lock in a statement with this word. */
export const waitingIn = (p: Pick<TestPlatform, 'sql'>, word: string, many = 1): Promise<unknown> =>
  until(
    `${many} that wait in ${word}`,
    () => p.sql(WAITING, [word]),
    ([row]) => row.n >= many,
  );

type Query = (statement: Statement) => Promise<unknown>;

/** Works while another transaction holds rows, until it is released or the work is done. */
export async function holding<T>(
  p: Pick<TestPlatform, 'env'>,
  held: Statement,
  work: (release: () => Promise<unknown>, query: Query) => Promise<T>,
): Promise<T> {
  const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(...held);
    return await work(
      () => other.query('commit'),
      statement => other.query(...statement),
    );
  } finally {
    await other.end();
  }
}

/** Sees that a call takes its rows in one order: while another transaction holds the first one, the later ones are free. */
export const locksInOrder = (p: TestPlatform, { held, waitsIn, free }: Case, call: () => Promise<Answer>): Promise<Answer> =>
  holding(p, held, async (release, query) => {
    const answer = call();
    await waitingIn(p, waitsIn);
    await query(free);
    await release();
    return answer;
  });

type Work = (ctx: Context) => Promise<unknown>;

/**
 * Does two things in transactions at once: the second begins when the first is done, and waits for it in a statement with this word or
 * does not, before that commits.
 */
export async function atOnce(
  { p, host, waitsIn }: { p: Pick<TestPlatform, 'sql'>; host: ServiceHost; waitsIn: string },
  first: Work,
  second: Work,
): Promise<void> {
  const [done, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = host.transaction(async ctx => {
    await first(ctx);
    await ctx.em.flush();
    done.resolve();
    await gate.promise;
  });
  await Promise.race([done.promise, one]);
  const other = host.transaction(second);
  await Promise.race([other, waitingIn(p, waitsIn)]);
  gate.resolve();
  await Promise.all([one, other]);
}
