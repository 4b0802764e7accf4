import pg from 'pg';
import { vi } from 'vitest';
import { Together } from '../../runtime/data/together.js';
import type { Answer, TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

const CHANGED = 'select 1 from live.live_session where counts_dirty union all select 1 from live.live_question where votes_dirty';

/** Lets requests for one row of live gather while another transaction has its lock. */
export async function gathered(p: TestPlatform, table: string, id: string, calls: (() => Promise<Answer>)[]): Promise<Answer[]> {
  // whoever tells the stream of earlier changes would wait for the row as well, with the other of a test's two connections
  await until(
    'earlier changes to be told',
    () => p.sql(CHANGED),
    rows => rows.length === 0,
  );
  const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await other.connect();
  const waiting = vi.spyOn(Together.prototype, 'run');
  try {
    await other.query('begin');
    await other.query(`select from live.${table} where id = $1 for update`, [id]);
    const answers = calls.map(call => call());
    await until(
      'all of them to wait',
      async () => waiting.mock.calls.length,
      seen => seen >= calls.length,
    );
    await other.query('commit');
    return await Promise.all(answers);
  } finally {
    waiting.mockRestore();
    await other.end();
  }
}
