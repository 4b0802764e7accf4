/** Answers of equal requests under way at once, with the services in the gateway's process and behind their addresses. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, sharedPlatform, type Answer, type SharedPlatform } from '../support/platform.js';

/** The same call several times at once. */
const atOnce = (times: number, call: () => Promise<Answer>): Promise<Answer[]> => Promise.all(Array.from({ length: times }, call));

describe.each(['process', 'http'])('with SUBGRAPH_CALLS=%s', calls => {
  let p: SharedPlatform;
  beforeAll(async () => {
    p = calls === 'process' ? await sharedPlatform() : await platform({ services: ['clinical'], env: { SUBGRAPH_CALLS: calls } });
  });

  /** A result of the demo person, so that there is something to read. */
  async function result(): Promise<void> {
    const row = { code: 'ldl_c', value: 111, unit: 'mg/dL', collected_at: '2026-08-01T08:00:00.000Z', source: 'lab', performer: 'lab_a' };
    const observations = [{ ...row, draw_id: randomUUID(), source_ref: randomUUID(), status: 'final' }];
    const { status } = await p.rest('POST', '/clinical/v1/biomarkers', {
      token: await p.serviceToken(),
      body: { user_id: DEMO, observations },
    });
    expect(status).toBe(201);
  }

  const READERS = 12;

  test('each of the equal readings of a patient by staff leaves its audit row, however many are under way', async () => {
    await result();
    const token = await p.userToken(DEMO2, [], { permissions: ['admin:clinical:read'], roles: ['clinician'] });
    const answers = await atOnce(READERS, () => p.rest('GET', `/clinical/v1/biomarkers?user_id=${DEMO}`, { token }));
    expect(answers.map(({ status }) => status)).toEqual(Array(READERS).fill(200));
    const left = await p.sql(`select request_id from clinical.audit_log where action = 'observations.read' and request_id = any($1)`, [
      answers.map(({ headers }) => headers['x-request-id']),
    ]);
    expect(new Set(left.map(row => row.request_id)).size).toBe(READERS);
  });

  test('each of the equal questions counts for its limit, however many are under way', async () => {
    const token = await p.userToken(DEMO2, ['read:profile']);
    const answers = await atOnce(35, () => p.rest('GET', '/identity/v1/users/handle-available?handle=nobody_has_this', { token }));
    const counted = (status: number): number => answers.filter(answer => answer.status === status).length;
    expect([counted(200), counted(429)]).toEqual([30, 5]);
  });

  // the stock executor's answers are objects, which are not shared
  test.skipIf(process.env.GATEWAY_EXECUTOR === 'stock')(
    'most of the equal questions that leave no trace are asked once for all',
    async () => {
      const token = await p.userToken(DEMO, ['read:profile']);
      const ask = () => p.rest('GET', '/identity/v1/users/me', { token });
      await ask();
      const before = await asked();
      const answers = await atOnce(READERS, ask);
      expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(READERS).fill([200, answers[0]!.body]));
      expect((await asked()) - before).toBeLessThan(READERS);
    },
  );

  /** Calls of the identity service so far. */
  async function asked(): Promise<number> {
    const { body } = await p.rest<string>('GET', '/metrics');
    return Number(/^gateway_fetch_seconds_count\{service="identity"\} (\d+)/m.exec(body)?.[1] ?? 0);
  }
});
