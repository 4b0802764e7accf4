import pg from 'pg';
import type { Answer, TestPlatform } from '../support/platform.js';
import { listen } from '../support/statements.js';
import { until } from '../support/until.js';

const CHANGED = 'select 1 from live.live_session where counts_dirty union all select 1 from live.live_question where votes_dirty';

/** Lets requests for one row of live gather while another transaction has its lock: each has read the row once before it waits. */
export async function gathered(p: TestPlatform, table: string, id: string, calls: (() => Promise<Answer>)[]): Promise<Answer[]> {
  // whoever tells the stream of earlier changes would wait for the row as well, with the other of a test's two connections
  await until(
    'earlier changes to be told',
    () => p.sql(CHANGED),
    rows => rows.length === 0,
  );
  const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await other.connect();
  const { asked, stop } = listen(p);
  const read = new RegExp(`from "?live"?\\."?${table}"? `);
  const prepared = async (): Promise<number> => asked().filter(({ text }) => read.test(text) && !/for update|_dirty/.test(text)).length;
  try {
    await other.query('begin');
    await other.query(`select from live.${table} where id = $1 for update`, [id]);
    const answers = calls.map(call => call());
    await until('all of them to wait', prepared, seen => seen >= calls.length);
    await other.query('commit');
    return await Promise.all(answers);
  } finally {
    stop();
    await other.end();
  }
}
