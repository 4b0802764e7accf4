import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { acceptCode, acceptLink, issueChallenge, type NewChallenge } from '../../subgraphs/identity/commands/challenge.js';
import { erase } from '../../subgraphs/identity/erase.js';
import { CHALLENGE_STATES, challengeState, type ChallengeTemplate } from '../../subgraphs/identity/rules/challenges.js';
import { deliver, deliveryOf, TO } from './mailbox.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const issue = async (more: Partial<NewChallenge> = {}): Promise<string> =>
  (await p.host('identity').transaction(ctx => issueChallenge(ctx, { template: 'sign_in', to: TO, userId: DEMO, ...more }))).id;
const type = (id: string, code: string, template: ChallengeTemplate = 'sign_in') =>
  p.host('identity').transaction(ctx => acceptCode(ctx, id, code, [template]));
const open = (link: string, template: ChallengeTemplate = 'sign_in') =>
  p.host('identity').transaction(ctx => acceptLink(ctx, link.split('/').at(-1)!, [template]));
const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

const NOW = new Date('2026-11-21T10:00:00.000Z');
const LATER = new Date('2026-11-21T10:00:00.001Z');

test.each([
  [{ consumedAt: null, attemptsLeft: 5, expiresAt: LATER }, 'pending'],
  [{ consumedAt: null, attemptsLeft: 1, expiresAt: LATER }, 'pending'],
  [{ consumedAt: null, attemptsLeft: 5, expiresAt: NOW }, 'expired'],
  [{ consumedAt: null, attemptsLeft: 0, expiresAt: LATER }, 'exhausted'],
  [{ consumedAt: null, attemptsLeft: 0, expiresAt: NOW }, 'exhausted'],
  [{ consumedAt: NOW, attemptsLeft: 3, expiresAt: NOW }, 'consumed'],
] as const)('a challenge %o is %s', (challenge, state) => expect(challengeState(challenge, NOW)).toBe(state));

test.each(['consumed', 'exhausted', 'expired'] as const)('nothing leads out of %s', state => expect(CHALLENGE_STATES[state]).toEqual({}));

describe('an event about a challenge', () => {
  test.each([
    ['sign_in', 'auth.magic_link.requested.v1', { channel: 'email', purpose: 'sign_in', locale: 'en' }],
    ['sign_up', 'auth.magic_link.requested.v1', { channel: 'email', purpose: 'verify', locale: 'en' }],
    ['recovery', 'auth.magic_link.requested.v1', { channel: 'email', purpose: 'recover', locale: 'en' }],
    ['email_change', 'auth.magic_link.requested.v1', { channel: 'email', purpose: 'verify', locale: 'en' }],
    ['second_factor', 'auth.two_factor.challenge.v1', { method: 'email' }],
    ['reauthenticate', 'auth.two_factor.challenge.v1', { method: 'email' }],
  ] as const)('of %s is %s and names it, no more', async (template, name, data) => {
    const id = await issue({ template });
    const [event] = await p.sql("select type, user_id, data from events.outbox where data->>'challenge_id' = $1", [id]);
    expect(event).toEqual({ type: name, user_id: DEMO, data: { challenge_id: id, expires_at: expect.any(String), ...data } });
  });

  test('of an invitation asks comms to write to the member of staff', async () => {
    const id = await issue({ template: 'staff_invitation', userId: null, staffId: DEMO2 });
    const [event] = await p.sql("select type, user_id, data from events.outbox where data->'params'->>'challenge_id' = $1", [id]);
    expect(event).toMatchObject({
      type: 'comms.message.send_requested.v1',
      user_id: null,
      data: { template: 'staff_invitation', recipient_type: 'staff', recipient_id: DEMO2, params: { challenge_id: id } },
    });
  });
});

describe('authDelivery', () => {
  test('gives comms address, link and code three times, each time audited; then only the hashes remain', async () => {
    const id = await issue();
    const first = await deliver(p, id);
    expect(first).toEqual({
      channel: 'EMAIL',
      to: TO,
      template: 'sign_in',
      locale: 'en',
      code: expect.stringMatching(/^\d{6}$/),
      link: expect.stringMatching(new RegExp(`^${p.url}/identity/v1/auth/magic/[\\w-]{43}$`)),
      expiresAt: expect.any(String),
    });
    for (let n = 0; n < 2; n++) expect(await deliver(p, id)).toEqual(first);
    expect((await deliveryOf(p, id)).errors[0]!.extensions).toMatchObject({ code: 'CONFLICT', reason: 'DELIVERED' });
    const [row] = await p.sql('select code_sealed, link_sealed, code_hash, link_hash from identity.auth_challenge where id = $1', [id]);
    expect(row).toEqual({ code_sealed: null, link_sealed: null, code_hash: expect.any(Buffer), link_hash: expect.any(Buffer) });
    const audited = await p.sql("select details from identity.audit_log where action = 'challenge.delivered' and target = $1", [id]);
    expect(audited).toHaveLength(3);
    expect(await type(id, first.code!)).toMatchObject({ userId: DEMO });
  });

  test('of three at once gives each its own turn, and no fourth', async () => {
    const id = await issue();
    const answers = await Promise.all(Array.from({ length: 5 }, () => deliveryOf(p, id)));
    expect(answers.filter(answer => answer.data?.result)).toHaveLength(3);
  });

  test('refuses every other client, also another internal one', async () => {
    const id = await issue();
    for (const token of [await p.serviceToken(), await p.internalToken('webhooks'), await p.userToken(DEMO, ['read:account'])])
      expect((await deliveryOf(p, id, token)).errors[0]!.extensions.code).toBe('FORBIDDEN');
  });

  test('refuses one that is used or unknown', async () => {
    const id = await issue();
    await type(id, (await deliver(p, id)).code!);
    expect((await deliveryOf(p, id)).errors[0]!.extensions).toMatchObject({ code: 'CONFLICT', reason: 'CONSUMED' });
    for (const unknown of [DEMO, 'x']) expect((await deliveryOf(p, unknown)).errors[0]!.extensions.code).toBe('NOT_FOUND');
  });
});

describe('a code', () => {
  test('is good once, also when typed twice at the same time', async () => {
    const id = await issue();
    const { code } = await deliver(p, id);
    const verdicts = await Promise.all([1, 2, 3].map(() => type(id, code!)));
    expect(verdicts.filter(verdict => verdict !== 'over')).toEqual([expect.objectContaining({ userId: DEMO, to: TO })]);
  });

  test('bears five wrong tries, parallel ones included, and then the right one is refused', async () => {
    const id = await issue();
    const { code } = await deliver(p, id);
    const verdicts = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => type(id, wrong(code!))));
    expect(verdicts.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual([
      'exhausted',
      'over',
      'over',
      'wrong',
      'wrong',
      'wrong',
      'wrong',
    ]);
    expect(await type(id, code!)).toBe('over');
  });

  test('of one purpose is none of another', async () => {
    const id = await issue();
    const { code } = await deliver(p, id);
    expect(await type(id, code!, 'second_factor')).toBe('over');
    expect(await type(id, code!)).toMatchObject({ userId: DEMO });
  });

  test('is taken as people type it, with a space in the middle', async () => {
    const id = await issue();
    const { code } = await deliver(p, id);
    expect(await type(id, `${code!.slice(0, 3)} ${code!.slice(3)}`)).toMatchObject({ userId: DEMO });
  });
});

test('a link is good once, and the code beside it with it', async () => {
  const id = await issue({ payload: { what: 'sealed' } });
  const { link, code } = await deliver(p, id);
  const verdicts = await Promise.all([open(link!), open(link!)]);
  expect(verdicts.filter(Boolean)).toEqual([expect.objectContaining({ id, payload: { what: 'sealed' } })]);
  expect(await type(id, code!)).toBe('over');
});

test('a challenge ends at its time and is removed an hour later', async () => {
  const id = await issue();
  const { link, code } = await deliver(p, id);
  await p.clock('identity', { advance: 'PT15M' });
  expect([await type(id, code!), await open(link!)]).toEqual(['over', null]);
  expect((await deliveryOf(p, id)).errors[0]!.extensions).toMatchObject({ reason: 'EXPIRED' });
  await p.clock('identity', { advance: 'PT1H' });
  expect(await p.sql('select from identity.auth_challenge where id = $1', [id])).toEqual([]);
});

test('no row, audit entry or event of a challenge holds its address, code or link', async () => {
  const id = await issue({ payload: { password: 'pay-load' } });
  const { link, code } = await deliver(p, id);
  const rows = await Promise.all([
    p.sql('select t::text as all from identity.auth_challenge t where id = $1', [id]),
    p.sql('select t::text as all from identity.audit_log t where target = $1', [id]),
    p.sql('select t::text as all from events.outbox t where t::text like $1', [`%${id}%`]),
  ]);
  const text = JSON.stringify(rows);
  expect(rows.flat().length).toBeGreaterThan(2);
  for (const secret of [TO, `"${code}"`, `,${code},`, link!.split('/').at(-1)!, 'pay-load']) expect(text).not.toContain(secret);
});

test('erasure takes the challenges of an account along, those of its invitations too', async () => {
  await issue({ userId: DEMO2, to: 'demo2@example.test' });
  const staffId = '0190b3a0-1111-7000-8000-0000000000b7';
  await p.sql(
    "insert into identity.staff_member (id, user_id, email, email_key, status, invited_by, invited_at) values ($1, $2, 'd2', 'd2', 'active', 'test', now())",
    [staffId, DEMO2],
  );
  await issue({ template: 'staff_invitation', userId: null, staffId });
  await p.host('identity').transaction(ctx => erase(ctx, { userId: DEMO2, requestId: staffId, scope: 'full' }));
  expect(await p.sql('select from identity.auth_challenge where user_id = $1 or staff_id = $2', [DEMO2, staffId])).toEqual([]);
});
