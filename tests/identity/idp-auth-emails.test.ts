import { createHmac, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { AUTH_EMAIL_SOURCES, readSigned, type SignedBody } from '../../subgraphs/identity/ports/auth-email-source.js';
import { readAuthEmail } from '../../subgraphs/identity/rules/auth-email.js';
import { isRegisteredOrigin } from '../../subgraphs/identity/rules/redirects.js';
import { Browser } from './browser.js';
import { deliver, mails } from './mailbox.js';

const KEY = Buffer.alloc(32, 9);
const SECRET = `whsec_${KEY.toString('base64')}`;
const PATH = '/identity/v1/webhooks/idp/auth-emails';
const APP = 'http://localhost:5173';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'], env: { IDP_WEBHOOK_SECRET: SECRET } })));
interface Sending {
  id?: string;
  /** Seconds from now. */
  at?: number;
  key?: Buffer;
  signature?: string;
  raw?: string;
  type?: string;
}

const sign = (key: Buffer, text: string): string => `v1,${createHmac('sha256', key).update(text).digest('base64')}`;

/** A body with its signature. */
function signed(body: object): SignedBody {
  const [id, text, seconds] = [randomUUID(), JSON.stringify(body), Math.floor(Date.now() / 1000)];
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': sign(KEY, `${id}.${seconds}.${text}`) };
  return { raw: Buffer.from(text), headers };
}

/** Sends as an outside provider does. */
async function send(
  body: object,
  { id = randomUUID(), at = 0, key = KEY, signature, raw, type = 'application/json' }: Sending = {},
): Promise<Answer> {
  const text = raw ?? JSON.stringify(body);
  const seconds = Math.floor(Date.now() / 1000) + at;
  const headers = {
    'content-type': type,
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature ?? sign(key, `${id}.${seconds}.${text}`),
  };
  return p.rest('POST', PATH, { body: text, headers });
}

const neutral = (more: object = {}) => ({
  type: 'magic_link',
  user: { id: 'idp-1', email: 'demo@example.test' },
  token: '408213',
  token_hash: 'a-token-hash-of-theirs',
  redirect_to: `${APP}/done?next=home`,
  expires_in: 600,
  locale: 'de',
  ...more,
});

const eventOf = async (challengeId: string): Promise<{ type: string; data: Record<string, unknown> }> =>
  (await p.sql("select type, data from events.outbox where data->>'challenge_id' = $1", [challengeId]))[0];

describe('an e-mail of an outside provider', () => {
  test('is a challenge that its event announces, with the provider’s code; our link proves the address and leads on', async () => {
    const { status, body } = await send(neutral());
    expect([status, body]).toEqual([202, { challenge_id: expect.any(String) }]);
    expect(await eventOf(body.challenge_id)).toMatchObject({
      type: 'auth.magic_link.requested.v1',
      data: { purpose: 'sign_in', locale: 'de' },
    });
    const { to, code, link } = await deliver(p, body.challenge_id);
    expect([to, code]).toEqual(['demo@example.test', '408213']);
    const browser = new Browser();
    const page = await browser.get(link!);
    expect(page.headers['content-security-policy']).toContain(`form-action 'self' ${APP}`);
    const answer = await browser.submit(page, link!);
    expect([answer.status, answer.location]).toEqual([303, `${APP}/done?next=home&token_hash=a-token-hash-of-theirs&type=magic_link`]);
    expect((await browser.submit(page, link!)).status).toBe(410);
  });

  test.each([
    ['magic_link', 'auth.magic_link.requested.v1', { purpose: 'sign_in' }],
    ['recovery', 'auth.magic_link.requested.v1', { purpose: 'recover' }],
    ['email_change', 'auth.magic_link.requested.v1', { purpose: 'verify' }],
    ['signup', 'auth.magic_link.requested.v1', { purpose: 'verify' }],
    ['invite', 'auth.magic_link.requested.v1', { purpose: 'verify' }],
    ['otp', 'auth.two_factor.challenge.v1', { method: 'email' }],
    ['reauthentication', 'auth.two_factor.challenge.v1', { method: 'email' }],
  ])('of type %s is %s', async (type, event, data) => {
    const { body } = await send(neutral({ type }));
    expect(await eventOf(body.challenge_id)).toMatchObject({ type: event, data });
    const { link } = await deliver(p, body.challenge_id);
    if (type === 'otp') expect(link).toBe(`${APP}/done?next=home&token_hash=a-token-hash-of-theirs&type=otp`);
  });

  test('that is sent again with the same webhook-id is answered with the same id, also at the same time, and announced once', async () => {
    const [id, before] = [randomUUID(), await mails(p)];
    const answers = await Promise.all([send(neutral(), { id }), send(neutral(), { id }), send(neutral(), { id })]);
    answers.push(await send(neutral(), { id, at: 5 }));
    expect(answers.map(one => one.status)).toEqual([202, 202, 202, 202]);
    expect(new Set(answers.map(one => one.body.challenge_id)).size).toBe(1);
    expect(await mails(p)).toBe(before + 1);
  });

  test('for nobody is 202 without an event, except that a sign-up makes a pending account', async () => {
    const before = await mails(p);
    const user = { id: 'idp-new', email: 'idp-new@example.test' };
    expect((await send(neutral({ user }))).body).toEqual({ challenge_id: null });
    expect(await mails(p)).toBe(before);
    const { body } = await send(neutral({ type: 'signup', user }));
    const known =
      'select u.id, u.status from identity.external_identity x join identity."user" u on u.id = x.user_id where x.subject = \'idp-new\'';
    expect(await p.sql(known)).toEqual([{ id: expect.any(String), status: 'pending' }]);
    const { link } = await deliver(p, body.challenge_id);
    const browser = new Browser();
    await browser.submit(await browser.get(link!), link!);
    const [{ id, status }] = await p.sql(known);
    expect(status).toBe('active');
    expect(
      await p.sql("select data->>'source' as source from events.outbox where type = 'user.created.v1' and user_id = $1", [id]),
    ).toEqual([{ source: 'signup' }]);
    const other = await send(neutral({ user: { id: 'idp-new', email: 'changed-there@example.test' } }));
    expect(await p.sql('select user_id from identity.auth_challenge where id = $1', [other.body.challenge_id])).toEqual([{ user_id: id }]);
  });

  test('for a closed account, or one whose address nobody has verified, is nobody’s', async () => {
    await p.sql(`update identity."user" set status = 'suspended' where id = $1`, [DEMO]);
    expect((await send(neutral())).body).toEqual({ challenge_id: null });
    await p.sql(`update identity."user" set status = 'active' where id = $1`, [DEMO]);
    await p.sql('update identity.user_email set verified_at = null where user_id = $1', [DEMO]);
    expect((await send(neutral())).body).toEqual({ challenge_id: null });
    await p.sql('update identity.user_email set verified_at = now() where user_id = $1', [DEMO]);
  });
});

describe('what is not signed as it must be', () => {
  test.each<[string, Sending]>([
    ['by another key', { key: Buffer.alloc(32, 8) }],
    ['too long ago', { at: -301 }],
    ['for later', { at: 301 }],
    ['not at all', { signature: '' }],
    ['in another version', { signature: 'v2,aaaa' }],
    ['without a value', { signature: 'v1' }],
  ])('%s is 401, whatever its body', async (_case, how) => {
    for (const raw of [undefined, '{ not json']) {
      const { status, headers } = await send(neutral(), { ...how, raw });
      expect([status, headers['content-type']]).toEqual([401, 'application/problem+json; charset=utf-8']);
    }
  });

  test('by any of several signatures is taken', async () => {
    const [id, text, seconds] = [randomUUID(), JSON.stringify(neutral()), Math.floor(Date.now() / 1000)];
    const signature = `v1,AAAA v2,BBBB ${sign(KEY, `${id}.${seconds}.${text}`)}`;
    expect((await send(neutral(), { id, signature })).status).toBe(202);
  });

  test('is 401 where no provider is connected', () => {
    expect(() => readSigned(AUTH_EMAIL_SOURCES.neutral!, undefined, signed({}))).toThrow('No provider is connected');
  });
});

describe('a signed body', () => {
  test('that is wrong is 400 with every violation', async () => {
    const { status, body } = await send({ type: 'x', user: { email: 'no' }, token: 7, redirect_to: 'nowhere', expires_in: 5 });
    expect([status, body.errors.map((one: { pointer: string }) => one.pointer)]).toEqual([
      400,
      ['/type', '/user/id', '/user/email', '/token', '/redirect_to', '/expires_in'],
    ]);
  });

  test.each(['{ not json', '[]', '"x"', '', 'null'])('%s is 400', async raw => {
    expect((await send({}, { raw })).status).toBe(400);
  });

  test.each([
    'https://evil.example/x',
    'http://localhost:5173@evil.example/',
    'http://localhost:5173.evil.example/',
    'javascript:alert(1)',
    'http://a:b@localhost:5173/',
  ])('that leads to %s is 400', async redirect_to => {
    const { status, body } = await send(neutral({ redirect_to }));
    expect([status, body.errors[0].pointer]).toEqual([400, '/redirect_to']);
  });

  test('that is no JSON by its type is 415, one of more than 64 KiB 413', async () => {
    expect((await send(neutral(), { type: 'text/plain' })).status).toBe(415);
    expect((await send(neutral({ padding: 'x'.repeat(70_000) }))).status).toBe(413);
  });
});

describe('a send-email hook', () => {
  const email_data = {
    token: '305805',
    token_hash: 'theirs',
    redirect_to: `${APP}/`,
    email_action_type: 'magiclink',
    site_url: APP,
    token_new: '',
  };
  const read = (body: object) => readSigned(AUTH_EMAIL_SOURCES.send_email_hook!, `v1,${SECRET}`, signed(body));

  test('is understood as the neutral body', () => {
    expect(read({ user: { id: 'idp-7', email: 'demo@example.test', user_metadata: { locale: 'fr' } }, email_data })).toEqual({
      type: 'magic_link',
      userId: 'idp-7',
      email: 'demo@example.test',
      token: '305805',
      tokenHash: 'theirs',
      redirectTo: `${APP}/`,
      expiresIn: null,
      locale: 'fr',
    });
  });

  test('about a change of address goes to the new one', () => {
    const user = { id: 'idp-7', email: 'demo@example.test', new_email: 'n@example.test' };
    const change = { ...email_data, email_action_type: 'email_change', token_new: '112233' };
    expect(read({ user, email_data: change })).toMatchObject({ type: 'email_change', email: 'n@example.test', token: '112233' });
  });
});

test.each([
  ['https://app.example/x', true],
  ['https://APP.example:443/', true],
  ['https://app.example.evil/', false],
  ['http://app.example/', false],
  ['com.example.app:/x', false],
])('%s leads to a registered origin: %s', (uri, is) => {
  expect(isRegisteredOrigin(uri, ['https://app.example/callback', 'com.example.app:/callback'])).toBe(is);
});

test.each([null, 3, 'x', [], {}])('%o is no neutral body', value => expect(Array.isArray(readAuthEmail(value))).toBe(true));
