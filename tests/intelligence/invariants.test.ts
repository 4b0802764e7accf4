import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { afterDeadlines } from './closed-decisions.js';
import { Loop } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open({ env: { LOG_LEVEL: 'fatal' } }); // it says loudly that its database is gone
});

/** While work runs, rows of a table are refused in this way. */
async function whileRefused(table: string, how: string, work: () => Promise<void>): Promise<void> {
  await loop.p.sql(
    `create function intelligence.refuse() returns trigger language plpgsql security definer as $$ begin ${how}; return new; end $$;
     create trigger refuse before insert on intelligence.${table} for each row execute function intelligence.refuse()`,
  );
  try {
    await work();
  } finally {
    await loop.p.sql(`drop trigger refuse on intelligence.${table}; drop function intelligence.refuse()`);
  }
}

const BREAK_OFF = 'perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5)';
const decisions = (key: string) => loop.p.sql('select status from intelligence.decision where decision_key = $1', [key]);

describe('rank', () => {
  test('13: without its database fails 503; it never serves without logging', async () => {
    const question = loop.question(await loop.policy());
    await whileRefused('decision', BREAK_OFF, async () => {
      const { status, body } = await loop.rest('POST', '/rank', question);
      expect([status, body.code, body.ranked]).toEqual([503, 'unavailable', undefined]);
    });
    expect(await decisions(question.decision_key)).toEqual([]);
    expect((await loop.rest('POST', '/rank', question)).status).toBe(201); // not a replay: nothing had been kept
  });

  test('writes the window that analytics is to open with the decision, or neither', async () => {
    const question = loop.question(await loop.policy({ outcome_metric: 'opened_article' }));
    await whileRefused('outcome_window', `raise exception 'refused'`, async () => {
      expect((await loop.rest('POST', '/rank', question)).status).toBe(500);
    });
    expect(await decisions(question.decision_key)).toEqual([]);
    const { id } = (await loop.rest('POST', '/rank', question)).body;
    expect(await loop.p.sql('select metric from intelligence.outcome_window where decision_id = $1', [id])).toEqual([
      { metric: 'opened_article' },
    ]);
  });
});

describe('a tick', () => {
  test('that runs while its holder is gone becomes FAILED at the next one', async () => {
    await loop.rank(await loop.policy());
    const id = randomUUID();
    await loop.p.sql(
      `insert into intelligence.loop_tick (id, trigger, status, phases, client_id, idempotency_key, started_at) values ($1, 'manual', 'running', '[]', 'demo-m2m', 'left', $2)`,
      [id, await loop.now()],
    );
    expect(await loop.ok('GET', `/loop/ticks/${id}`)).toMatchObject({ status: 'running', finished_at: null });
    expect(await loop.tick(loop.token, { 'idempotency-key': 'left' })).toMatchObject({ status: 409 }); // its own key waits for it
    const next = await loop.tick();
    expect(next).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect(await loop.ok('GET', `/loop/ticks/${id}`)).toMatchObject({ status: 'failed', finished_at: await loop.now() });
    const again = await loop.tick(loop.token, { 'idempotency-key': 'left' });
    expect([again.status, again.body.id === id]).toEqual([200, false]);
  });

  test('2: of 100 parallel calls exactly one has effects; each other answers 409, or 200 with nothing to do', async () => {
    const policy = await loop.policy();
    await loop.decisions(policy, 4, 1);
    await loop.passDeadline();
    const answers = await Promise.all(Array.from({ length: 100 }, () => loop.tick()));
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.filter(({ body }) => body.phases[0].counts.expired_unjoined > 0)).toHaveLength(1);
    expect(done.filter(({ body }) => body.phases[2].counts.raised > 0)).toHaveLength(1);
    expect(await loop.proposals(policy)).toHaveLength(1);
    const events = await loop.p.sql(
      "select 1 from events.outbox where type = 'intelligence.proposal.raised.v1' and data->>'policy_key' = $1",
      [policy.policy_key],
    );
    expect(events).toHaveLength(1);
  });
});

describe('meta-metrics', () => {
  test('are the newest per metric and scope, or with history all, newest first; by version and by when they were computed', async () => {
    const policy = await loop.policy();
    const popularity = { prior_strength: 20, global: { a: { s: 5, c: 10 } }, segments: {} };
    await loop.champion(policy, { popularity });
    await loop.decisions(policy, 5, 5);
    await afterDeadlines(loop, policy);
    const instants: string[] = [];
    for (let tick = 0; tick < 3; tick++) {
      instants.push((await loop.tick()).body.started_at);
      await loop.clock(new Date(Date.parse(await loop.now()) + 60_000).toISOString());
    }
    const at = async (query: string) => (await loop.metrics(`&policy_key=${policy.policy_key}${query}`)).map(one => one.computed_at);
    const joins = '&metric=join_completeness';
    const newestFirst = instants.toReversed();
    expect(await at(joins)).toEqual([instants[2]]);
    expect(await at(`${joins}&history=true`)).toEqual(newestFirst);
    expect(await at(`${joins}&history=true&from=${instants[1]}`)).toEqual(newestFirst.slice(0, 2));
    expect(await at(`${joins}&history=true&to=${instants[1]}`)).toEqual([instants[0]]);
    expect(await at(`${joins}&history=true&from=${instants[1]}&to=${instants[2]}`)).toEqual([instants[1]]);
    expect(await at('&metric=calibration&history=true&policy_version=2')).toEqual(newestFirst);
    expect(await at('&metric=calibration&history=true&policy_version=1')).toEqual([]);
    expect(await at(`${joins}&history=true&policy_version=2`)).toEqual([]); // it is of the policy, not of a version
  });
});
