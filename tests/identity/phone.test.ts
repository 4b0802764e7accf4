import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { captured } from '../comms/asking.js';
import { deliver, mails } from './mailbox.js';

let p: TestPlatform;
let token: string;
const ME = '/identity/v1/users/me';
const NUMBER = '+15550100042';
const ALL = ['read:account', 'read:profile'];

beforeAll(async () => {
  p = await platform({ services: ['identity', 'comms'] });
  token = await p.userToken(DEMO, ALL);
}, 240_000);

beforeEach(async () => {
  await p.sql('delete from identity.sign_in_limit');
  await p.sql('update identity."user" set phone = null, phone_verified_at = null');
});

const ask = (phone: string, as = token): Promise<Answer> => p.rest('POST', `${ME}/phone/verify`, { token: as, body: { phone } });
const confirm = (challenge_id: string, code: string, as = token): Promise<Answer> =>
  p.rest('POST', `${ME}/phone/confirm`, { token: as, body: { challenge_id, code } });
const remove = (as = token): Promise<Answer> => p.rest('DELETE', `${ME}/phone`, { token: as });
const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');
const me = async (): Promise<any> => (await p.rest('GET', ME, { token })).body;
const notices = async (): Promise<number> =>
  (await p.sql("select 1 from events.outbox where user_id = $1 and data->'params'->>'kind' = 'phone_changed'", [DEMO])).length;
const codeOf = async (id: string): Promise<string> => (await deliver(p, id)).code!;

/** Confirms a number for the demo user. */
async function verify(phone: string): Promise<void> {
  const { body } = await ask(phone);
  expect((await confirm(body.challenge_id, await codeOf(body.challenge_id))).status).toBe(200);
}

describe('a phone number', () => {
  test('is sent a code by SMS, and is the account’s, confirmed, once the code was typed', async () => {
    const asked = await ask(NUMBER);
    expect(asked).toMatchObject({
      status: 202,
      body: { challenge_id: expect.any(String), sent_to: '+1•••••42', expires_at: expect.any(String) },
    });
    expect(Date.parse(asked.body.expires_at) - Date.now()).toBeGreaterThan(9 * 60_000);
    expect(Date.parse(asked.body.expires_at) - Date.now()).toBeLessThanOrEqual(10 * 60_000);
    expect(await me()).toMatchObject({ phone_verified: false });
    const sent = await until(
      'the code',
      () => captured(p, DEMO, 'sms'),
      all => all.some(({ to }) => to === NUMBER),
    );
    const [, code] = /\b(\d{6})\b/.exec(sent.find(({ to }) => to === NUMBER)!.content.text)!;
    const { status, body } = await confirm(asked.body.challenge_id, code!);
    expect([status, body]).toEqual([200, { id: DEMO, status: 'active', phone: NUMBER, phone_verified: true }]);
    expect(await me()).toMatchObject({ phone: NUMBER, phone_verified: true });
  });

  test('is asked for by an event that names the challenge and the channel, and neither number nor code', async () => {
    const { body } = await ask(NUMBER);
    const code = await codeOf(body.challenge_id);
    const [event] = await p.sql("select type, user_id, data from events.outbox where data->>'challenge_id' = $1", [body.challenge_id]);
    expect(event).toEqual({
      type: 'auth.magic_link.requested.v1',
      user_id: DEMO,
      data: { challenge_id: body.challenge_id, channel: 'sms', purpose: 'verify', locale: 'en', expires_at: body.expires_at },
    });
    expect(await deliver(p, body.challenge_id)).toMatchObject({ channel: 'SMS', to: NUMBER, template: 'phone_verify', link: null, code });
    await confirm(body.challenge_id, code);
    const rows = await p.sql<{ all: string }>(
      `select t::text as all from identity.auth_challenge t union all select t::text from identity.audit_log t union all select t::text from events.outbox t
       union all select t::text from comms.message t union all select t::text from comms.send_request t`,
    );
    expect(rows.filter(({ all }) => all.includes(NUMBER) || all.includes(NUMBER.slice(1)) || all.includes(`"${code}"`))).toEqual([]);
  });

  test('case 26: four wrong codes and the right one confirm it; five wrong ones and the right one do not', async () => {
    const first = (await ask(NUMBER)).body.challenge_id;
    const code = await codeOf(first);
    for (let n = 0; n < 4; n++)
      expect(await confirm(first, wrong(code))).toMatchObject({ status: 400, body: { errors: [{ pointer: '/code' }] } });
    expect(await confirm(first, code)).toMatchObject({ status: 200, body: { phone: NUMBER, phone_verified: true } });
    const second = (await ask('+15550100043')).body.challenge_id;
    const other = await codeOf(second);
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push((await confirm(second, wrong(other))).status);
    expect(answers).toEqual([400, 400, 400, 400, 409]);
    expect(await confirm(second, other)).toMatchObject({ status: 409, body: { reason: 'exhausted' } });
    expect(await me()).toMatchObject({ phone: NUMBER, phone_verified: true });
  });

  test('case 26: of an account that was made with one is not confirmed, until its code was typed', async () => {
    const { status, body } = await p.rest('POST', '/identity/v1/admin/users', {
      token: await p.serviceToken('admin:identity'),
      body: { email: 'dialled@example.test', phone: NUMBER },
      headers: { 'idempotency-key': 'dialled' },
    });
    expect(status).toBe(201);
    const read = 'query ($id: ID!) { adminUser(id: $id) { phone phoneVerified } }';
    const asAdmin = { token: await p.serviceToken('admin:identity') };
    expect((await p.graphql(read, { id: body.id }, asAdmin)).data.adminUser).toEqual({ phone: NUMBER, phoneVerified: false });
    const own = await p.userToken(body.id, ALL);
    const { challenge_id } = (await ask(NUMBER, own)).body;
    expect((await confirm(challenge_id, await codeOf(challenge_id), own)).status).toBe(200);
    expect((await p.graphql(read, { id: body.id }, asAdmin)).data.adminUser).toEqual({ phone: NUMBER, phoneVerified: true });
    await verify(NUMBER); // it may stand at several accounts
    expect(await me()).toMatchObject({ phone: NUMBER, phone_verified: true });
  });

  test('that replaces another is told of by e-mail; the first one, and the same one again, are not', async () => {
    const before = await notices();
    await verify(NUMBER);
    await verify(NUMBER);
    expect(await notices()).toBe(before);
    await verify('+15550100043');
    expect(await notices()).toBe(before + 1);
    const mail = await until(
      'the notice',
      () => captured(p, DEMO, 'email'),
      all => all.some(({ content }) => content.text.includes('phone number')),
    );
    expect(JSON.stringify(mail)).not.toContain('555010004');
  });

  test('a newer request voids the older one', async () => {
    const older = (await ask(NUMBER)).body.challenge_id;
    const code = await codeOf(older);
    const newer = (await ask('+15550100043')).body.challenge_id;
    expect(await confirm(older, code)).toMatchObject({ status: 409, body: { reason: 'expired' } });
    expect((await confirm(newer, await codeOf(newer))).status).toBe(200);
    expect(await me()).toMatchObject({ phone: '+15550100043' });
  });

  test('is confirmed by nobody but who asked, and by no code of something else', async () => {
    const { challenge_id } = (await ask(NUMBER)).body;
    const code = await codeOf(challenge_id);
    expect((await confirm(challenge_id, code, await p.userToken(DEMO2, ALL))).status).toBe(404);
    expect((await confirm(DEMO, code)).status).toBe(404);
    const change = await p.rest('POST', `${ME}/email-change-request`, { token, body: { new_email: 'other@example.test' } });
    expect((await confirm(change.body.challenge_id, await codeOf(change.body.challenge_id))).status).toBe(404);
    expect(await me()).toMatchObject({ phone_verified: false });
    expect((await confirm(challenge_id, code)).status).toBe(200);
  });

  test('is taken off the account, with the code that is on its way; again: no change', async () => {
    await verify(NUMBER);
    const { challenge_id } = (await ask('+15550100043')).body;
    const code = await codeOf(challenge_id);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
    expect(await me()).toMatchObject({ phone_verified: false });
    expect(await me()).not.toHaveProperty('phone');
    expect((await confirm(challenge_id, code)).status).toBe(409);
    const audited = await p.sql("select 1 from identity.audit_log where action = 'phone.removed' and target = $1", [DEMO]);
    expect(audited).toHaveLength(1);
  });

  test('that is new or gone is news to a CRM', async () => {
    const changed = async () =>
      (await p.sql('select contact_at from identity.crm_change where user_id = $1', [DEMO]))[0]?.contact_at ?? null;
    await p.sql('delete from identity.crm_change where user_id = $1', [DEMO]);
    await verify(NUMBER);
    expect(await changed()).not.toBeNull();
    await p.sql('delete from identity.crm_change where user_id = $1', [DEMO]);
    await verify(NUMBER);
    expect(await changed()).toBeNull();
    await remove();
    expect(await changed()).not.toBeNull();
  });
});

describe('codes by SMS are limited', () => {
  const statuses = async (numbers: string[], as = token): Promise<number[]> => {
    const found: number[] = [];
    for (const number of numbers) found.push((await ask(number, as)).status);
    return found;
  };
  const numbers = (count: number, from = 0): string[] =>
    Array.from({ length: count }, (_, n) => `+155501001${String(from + n).padStart(2, '0')}`);

  test('case 26: three times in 15 minutes for a number, whichever accounts ask', async () => {
    const sent = await mails(p);
    expect(await statuses([NUMBER, NUMBER])).toEqual([202, 202]);
    expect(await statuses([NUMBER], await p.userToken(DEMO2, ALL))).toEqual([202]);
    const refused = await ask(NUMBER);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(800);
    expect(await mails(p)).toBe(sent + 3);
    expect(await statuses(numbers(1))).toEqual([202]);
  });

  test('five times an hour for an account', async () => {
    expect(await statuses(numbers(6))).toEqual([202, 202, 202, 202, 202, 429]);
    expect(await statuses(numbers(1, 6), await p.userToken(DEMO2, ALL))).toEqual([202]);
  });

  test('ten times an hour for a network, whichever accounts ask', async () => {
    const others = await p.userToken(DEMO2, ALL);
    expect(await statuses(numbers(5))).toEqual([202, 202, 202, 202, 202]);
    expect(await statuses(numbers(5, 5), others)).toEqual([202, 202, 202, 202, 202]);
    const admin = await p.userToken('0190b3a0-0000-7000-8000-0000000000a9', ALL);
    expect(await statuses(numbers(1, 10), admin)).toEqual([429]);
  });
});

describe('who may', () => {
  test('only a person, in a first-party app, signed in lately for asking and removing', async () => {
    const old = await p.userToken(DEMO, ALL, { authTime: new Date(Date.now() - 700_000) });
    expect([(await ask(NUMBER, old)).body.code, (await remove(old)).body.code]).toEqual(['step_up_required', 'step_up_required']);
    const third = await p.userToken(DEMO, ALL, { clientId: 'demo-partner-app' });
    expect([(await ask(NUMBER, third)).body.code, (await remove(third)).body.code]).toEqual(['forbidden', 'forbidden']);
    const profile = await p.userToken(DEMO, ['read:profile']);
    expect((await ask(NUMBER, profile)).body.code).toBe('insufficient_scope');
    expect((await ask(NUMBER, await p.serviceToken('admin:identity'))).status).toBe(403);
    const { challenge_id } = (await ask(NUMBER)).body;
    expect((await confirm(challenge_id, await codeOf(challenge_id), old)).status).toBe(200);
  });

  test.each([['123'], ['0049301234'], ['+0123456789'], ['']])('%j is no number: 400, and nothing is sent', async phone => {
    const sent = await mails(p);
    expect(await ask(phone)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/phone' }] } });
    expect(await mails(p)).toBe(sent);
  });

  test('a code that runs out after ten minutes confirms nothing', async () => {
    const { challenge_id } = (await ask(NUMBER)).body;
    const code = await codeOf(challenge_id);
    await p.clock('identity', { advance: 'PT10M' });
    expect(await confirm(challenge_id, code)).toMatchObject({ status: 409, body: { reason: 'expired' } });
  });
});
