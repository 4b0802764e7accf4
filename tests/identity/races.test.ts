import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { Browser, proof, redeem, refresh, walk } from './browser.js';
import { claimsOf, introspect } from './oauth.js';

const PARALLEL = 50;
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 6);
let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

/** Answers by status; nothing but 200 and 400 invalid_grant may come. */
function winners(answers: { status: number; body: any }[]): any[] {
  for (const { status, body } of answers) if (status !== 200) expect([status, body.error]).toEqual([400, 'invalid_grant']);
  return answers.filter(({ status }) => status === 200).map(({ body }) => body);
}

async function aCode(browser: Browser) {
  await p.sql('delete from identity.sign_in_limit'); // sixty authorization requests a minute are no subject here
  const by = proof();
  return { by, code: (await walk(p, browser, {}, by)).code! };
}

describe(`${PARALLEL} at once`, () => {
  test('redemptions of one code: one answer is 200, and the family is dead', async () => {
    const browser = new Browser();
    for (let round = 0; round < ROUNDS; round++) {
      const { by, code } = await aCode(browser);
      const won = winners(await Promise.all(Array.from({ length: PARALLEL }, () => redeem(p, 'demo-partner-app', code, by))));
      expect(won).toHaveLength(1);
      expect(await introspect(p, won[0].access_token)).toEqual({ active: false });
      expect((await refresh(p, 'demo-partner-app', won[0].refresh_token)).status).toBe(400);
    }
  });

  test('refreshes with one token: one answer is 200, and the family is dead', async () => {
    const browser = new Browser();
    for (let round = 0; round < ROUNDS; round++) {
      const { by, code } = await aCode(browser);
      const { refresh_token } = (await redeem(p, 'demo-partner-app', code, by)).body;
      const won = winners(await Promise.all(Array.from({ length: PARALLEL }, () => refresh(p, 'demo-partner-app', refresh_token))));
      expect(won).toHaveLength(1);
      expect(await introspect(p, won[0].access_token)).toEqual({ active: false });
      expect((await refresh(p, 'demo-partner-app', won[0].refresh_token)).status).toBe(400);
    }
    const [row] = await p.sql(
      'select count(*)::int as n from identity.oauth_artifact a join identity.token_family f on f.id = a.family_id where f.ended_at is not null',
    );
    expect(row.n).toBe(0);
  });
});

describe('where two uses of one token meet', () => {
  /** Holds rows back while `begun` goes on, until so many statements wait for them, and does `meanwhile` before it lets go. */
  async function holding<T>(rows: string, waiting: number, begun: () => Promise<T>, meanwhile?: string): Promise<T> {
    const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
    await other.connect();
    await other.query('begin');
    await other.query(rows);
    const answers = begun();
    const WAITING = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(
      `${waiting} that wait`,
      () => p.sql(WAITING),
      ([row]) => row.n >= waiting,
    );
    if (meanwhile) await other.query(meanwhile);
    await other.query('commit');
    await other.end();
    return answers;
  }

  const tokens = async (): Promise<any> => {
    const { by, code } = await aCode(new Browser());
    return (await redeem(p, 'demo-partner-app', code, by)).body;
  };
  const artifactsOf = (family: string) => p.sql('select model from identity.oauth_artifact where family_id = $1', [family]);

  test('both find it unused and one spends it: the other one ends the family', async () => {
    const { access_token, refresh_token } = await tokens();
    const family = claimsOf(access_token).gid;
    const row = `select from identity.oauth_artifact where model = 'RefreshToken' and family_id = '${family}' for update`;
    const twice = () => Promise.all([1, 2].map(() => refresh(p, 'demo-partner-app', refresh_token)));
    expect(winners(await holding(row, 2, twice))).toHaveLength(1);
    const [ended] = await p.sql('select end_reason from identity.token_family where id = $1 and ended_at is not null', [family]);
    expect(ended).toEqual({ end_reason: 'replayed' });
    expect(await introspect(p, access_token)).toEqual({ active: false });
  });

  test('a token that is spent when its family ends gets no successor', async () => {
    const { access_token, refresh_token } = await tokens();
    const family = claimsOf(access_token).gid;
    const row = `select from identity.token_family where id = '${family}' for update`;
    const ending = `delete from identity.oauth_artifact where family_id = '${family}';
      update identity.token_family set ended_at = now(), end_reason = 'replayed' where id = '${family}'`;
    const { status, body } = await holding(row, 1, () => refresh(p, 'demo-partner-app', refresh_token), ending);
    expect(status).toBe(200); // with tokens that are dead
    expect(await artifactsOf(family)).toEqual([]);
    expect((await refresh(p, 'demo-partner-app', body.refresh_token)).status).toBe(400);
  });
});
