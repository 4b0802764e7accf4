import { beforeAll, describe, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';
import { Browser, proof, redeem, refresh, walk } from './browser.js';
import { introspect } from './oauth.js';

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
