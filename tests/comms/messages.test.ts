import { createHmac } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../runtime/request/context.js';
import { afterBounce } from '../../subgraphs/comms/commands/outcome.js';
import { CommsMessageStatus } from '../../subgraphs/comms/entities/enums.js';
import { CommsMessage } from '../../subgraphs/comms/entities/message.js';
import { settingsOf } from '../../subgraphs/comms/ports/settings.js';
import { TOPICS } from '../../subgraphs/comms/rules/topics.js';
import { atOnce } from '../support/locks.js';
import { BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { askedDuring } from '../support/statements.js';
import { until } from '../support/until.js';
import { signIn } from '../identity/browser.js';
import { makeStaff } from '../identity/staff.js';
import { captured, emitAs, messagesOf, outcome, send, settle } from './asking.js';

/** Another account like one that there is. */
const PERSON = `insert into identity."user" select (jsonb_populate_record(null::identity."user", to_jsonb(u) || jsonb_build_object('id', $1::text))).*
  from identity."user" u where u.id = $2`;

let p: TestPlatform;
let service: string;
let member: string;
let other: string;

const mailTo = async (userId: string, address: string): Promise<unknown> =>
  p.sql('update identity.user_email set email = $2, email_key = $2, verified_at = now() where user_id = $1', [userId, address]);
const zone = (userId: string, name: string | null): Promise<unknown> =>
  p.sql('update identity.user_settings set time_zone = $2, time_zone_set_at = case when $3 then now() end where user_id = $1', [
    userId,
    name ?? 'UTC',
    name !== null,
  ]);
const fault = (point: string): void => void p.host('comms').faults.set(point, { match: null, times: 1 });
const requestsOf = async (template: string): Promise<number> =>
  (await p.sql<{ n: number }>('select count(*)::int as n from comms.send_request where template = $1', [template]))[0]!.n;
const requested = (template: string, count: number): Promise<unknown> =>
  until(
    `${count} requests of ${template}`,
    () => requestsOf(template),
    n => n >= count,
  );
const rest = (method: string, path: string, token: string | null, body?: unknown) => p.rest(method, `/comms${path}`, { token, body });
const explain = async (id: string): Promise<{ check: string; passed: boolean; fact: string | null }[]> =>
  (await rest('GET', `/v1/admin/messages/${id}/explain`, service)).body.checks;
const lapse = (): Promise<unknown> => p.sql("update comms.message set lease_until = now() - interval '1 second' where status = 'sending'");

beforeAll(async () => {
  p = await platform({ services: ['comms', 'clinical', 'events'] });
  service = await p.serviceToken('admin:comms');
  member = await p.userToken(DEMO, ['read:inbox', 'manage:inbox', 'read:preferences', 'manage:preferences']);
  other = await p.userToken(DEMO2, ['read:inbox', 'manage:inbox']);
}, 240_000);

beforeEach(async () => {
  await mailTo(DEMO, 'demo@example.test');
  await zone(DEMO, 'Europe/Berlin');
  for (const table of ['captured_message', 'preference', 'quiet_hours', 'suppression', 'inbox_item'])
    await p.sql(`delete from comms.${table}`);
});

describe('sign-in and identity, by the clock on the wall', () => {
  const ALL = 'read:account read:profile';
  test('an e-mail change is asked of the new address and undone from the old one; no secret is stored, shown or told', async () => {
    const { access_token: token } = await signIn(p, { client: 'demo-app', scope: ALL, email: 'demo@example.test' } as never);
    const asked = await p.rest('POST', '/identity/v1/users/me/email-change-request', { token, body: { new_email: 'new@example.test' } });
    expect(asked.status).toBe(202);
    const first = await until(
      'the code',
      () => captured(p),
      mails => mails.some(one => one.to === 'new@example.test'),
    );
    const code = /\b(\d{6})\b/.exec(first.find(one => one.to === 'new@example.test')!.content.text)![1]!;
    expect(
      (await p.rest('POST', '/identity/v1/users/me/email-change-confirm', { token, body: { challenge_id: asked.body.challenge_id, code } }))
        .status,
    ).toBe(200);
    const mails = await until(
      'the undo',
      () => captured(p),
      all => all.some(one => one.content.text.includes('email-undo')),
    );
    const undo = mails.find(one => one.content.text.includes('email-undo'))!;
    expect([undo.to, undo.content.headers['List-Unsubscribe']]).toEqual(['demo@example.test', undefined]);
    const rows = await p.sql<{ row: string }>('select m::text as row from comms.message m where is_auth');
    const items = await p.sql('select 1 from comms.inbox_item');
    const events = await p.sql<{ data: string }>('select data::text from events.outbox');
    expect([
      rows.length,
      rows.some(({ row }) => row.includes(code) || row.includes('new@example.test')),
      items,
      events.some(({ data }) => data.includes(code)),
    ]).toEqual([2, false, [], false]);
    expect(await p.sql('select 1 from comms.message where is_auth and content_sealed is not null')).toEqual([]);
    expect(
      (await p.sql<{ deliveries: number }>('select deliveries from identity.auth_challenge where id = $1', [asked.body.challenge_id]))[0],
    ).toEqual({ deliveries: 1 });
  });

  test('an invitation shows in the one mailbox of development, with its link, and nowhere else', async () => {
    await p.rest('POST', '/identity/v1/admin/staff/invite', {
      token: await p.serviceToken('admin:identity'),
      body: { email: 'nova@example.test', roles: ['support'] },
    });
    const page = await until(
      'the mail',
      async () => String((await p.rest('GET', '/dev/mail')).body),
      html => html.includes('nova@example.test'),
    );
    const id = /\/dev\/mail\/([0-9a-f-]{36})/.exec(page)![1]!;
    expect(String((await p.rest('GET', `/dev/mail/${id}`)).body)).toContain('staff-invitations');
    for (const headers of [{ 'x-forwarded-for': '203.0.113.7' }, { host: 'attacker.example' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await p.rest('GET', '/dev/mail', { headers: headers as never })).status).toBe(404);
  });
});

describe('by the clock of the test', () => {
  beforeAll(async () => {
    await p.clock('comms', { now: '2027-01-12T12:00:00.000Z' });
    // the change of the address has ended what was signed in before
    member = await p.userToken(DEMO, ['read:inbox', 'manage:inbox', 'read:preferences', 'manage:preferences']);
  });

  test('1 and 2: the same key five times in parallel is one message per channel; with other params it is refused', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(p, { dedupe_key: 'same', params: { order_number: 'A-1' } })));
    expect(answers.map(one => one.status).sort((a, b) => a - b)).toEqual([200, 200, 200, 200, 202]);
    expect(await outcome(p, 'same')).toEqual({ email: 'sent', in_app: 'delivered' });
    expect(await send(p, { dedupe_key: 'same', params: { order_number: 'A-2' } })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_mismatch' },
    });
    const [mail] = await captured(p, DEMO, 'email');
    expect([mail!.to, mail!.content.subject, mail!.content.headers['Auto-Submitted'], mail!.content.headers['List-Id']]).toEqual([
      'demo@example.test',
      'Your order A-1',
      'auto-generated',
      expect.stringMatching(/^<orders\..+>$/),
    ]);
    expect(mail!.content.html).toContain('Thank you for your order');
  });

  test('no caller hands on an address, and a template that nobody knows is refused, with an alarm', async () => {
    expect((await send(p, { params: { order_number: 'a@example.test' } })).status).toBe(400);
    expect(await send(p, { template: 'nope' })).toMatchObject({ status: 202, body: { status: 'rejected', reject_reason: 'no_template' } });
    expect((await p.rest('GET', '/comms/readyz')).body).toMatchObject({ status: 'degraded', checks: { templates_known: 'degraded' } });
  });

  test('5: an address that changes while a message is scheduled is right when it is sent', async () => {
    await send(p, { dedupe_key: 'later', send_after: '2027-01-12T12:10:00.000Z' });
    expect(await outcome(p, 'later')).toEqual({ email: 'scheduled', in_app: 'scheduled' });
    await mailTo(DEMO, 'moved@example.test');
    await p.clock('comms', { advance: 'PT10M' });
    expect(await outcome(p, 'later')).toEqual({ email: 'sent', in_app: 'delivered' });
    expect((await captured(p, DEMO, 'email')).map(one => one.to)).toEqual(['moved@example.test']);
  });

  test('8: what is mandatory cannot be switched off, and an unknown topic or channel is refused', async () => {
    const change = (topic: string, channels: object) => rest('PATCH', '/v1/preferences', member, { topics: [{ topic, channels }] });
    expect(await change('security', { email: false })).toMatchObject({ status: 409, body: { reason: 'mandatory_topic' } });
    expect((await change('nope', { email: false })).status).toBe(400);
    expect((await change('offers', { in_app: false })).status).toBe(400);
    const { body } = await change('community', { push: false });
    expect(body.topics.find((one: { topic: string }) => one.topic === 'community').channels).toMatchObject({ push: false, in_app: true });
    expect((await rest('PATCH', '/v1/preferences', member, { lock_screen_detail: 'shown', version: body.version + 5 })).body.reason).toBe(
      'version_conflict',
    );
  });

  const device = async (label: string): Promise<{ id: string }> => {
    const token = await p.userToken(DEMO, ['manage:preferences'], { firstParty: true } as never);
    const keys = { p256dh: 'B'.repeat(87), auth: 'a'.repeat(22) };
    const { body, status } = await p.rest('POST', '/comms/v1/push-subscriptions', {
      token,
      body: { platform: 'web', endpoint: `https://push.example.test/${label}`, keys, label },
    });
    expect([200, 201]).toContain(status);
    return body;
  };

  test('6: at half past ten at night a push waits for the morning, one of safety does not, and the app does not', async () => {
    await device('one');
    await p.clock('comms', { now: '2027-01-12T21:30:00.000Z' });
    await send(p, { dedupe_key: 'night', template: 'chat_message', params: { conversation_id: '0190b3a0-1111-7000-8000-000000000001' } });
    expect(await outcome(p, 'night')).toEqual({ in_app: 'delivered', push: 'scheduled' });
    const push = (await messagesOf(p, 'night')).find(one => one.channel === 'push')!;
    expect(push.scheduled_for! >= '2027-01-13T07:00:00.000Z' && push.scheduled_for! < '2027-01-13T07:10:00.000Z').toBe(true);
    expect(await explain(push.id)).toContainEqual({ check: 'quiet_hours', passed: true, fact: push.scheduled_for });
    await rest('PATCH', '/v1/preferences', member, { quiet_hours: { enabled: true, from: '21:00', to: '11:00' } });
    await p.clock('comms', { now: '2027-01-13T07:15:00.000Z' }); // the second look finds that the night is longer now
    expect((await messagesOf(p, 'night')).find(one => one.channel === 'push')).toMatchObject({ status: 'scheduled' });
    await p.clock('comms', { now: '2027-01-13T10:15:00.000Z' });
    expect(await outcome(p, 'night')).toEqual({ in_app: 'delivered', push: 'sent' });
  });

  test('28: where nobody said where they are, the night of a guess is wider, and explain names the guess', async () => {
    await zone(DEMO, null);
    await send(p, { dedupe_key: 'guess', template: 'chat_message', params: { conversation_id: '0190b3a0-1111-7000-8000-000000000001' } });
    await settle(p);
    const push = (await messagesOf(p, 'guess')).find(one => one.channel === 'push')!;
    expect((await explain(push.id)).find(one => one.check === 'time_zone')?.fact).toMatch(/^brand /);
  });

  test('7: a topic that is switched off for push goes to the app only', async () => {
    await rest('PATCH', '/v1/preferences', member, { topics: [{ topic: 'messages', channels: { push: false } }] });
    await send(p, { dedupe_key: 'off', template: 'chat_message', params: { conversation_id: '0190b3a0-1111-7000-8000-000000000001' } });
    expect(await outcome(p, 'off')).toEqual({ in_app: 'delivered', push: 'skipped topic_off' });
  });

  const LINK = /https?:\/\/\S+(\/comms\/v1\/(?:unsubscribe|preferences\/link)\/[\w-]+)/g;
  const linksOf = (text: string): Record<string, string> =>
    Object.fromEntries([...text.matchAll(LINK)].map(([, path]) => [path!.includes('unsubscribe') ? 'unsubscribe' : 'preferences', path!]));
  const form = (path: string, body: string) =>
    p.rest('POST', path, { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
  const visit = (key: string) =>
    send(p, { dedupe_key: key, template: 'membership_activated', params: { membership_id: '0190b3a0-1111-7000-8000-000000000001' } });

  test('10, 11 and 32: reading a link changes nothing, one click stops the topic, and a receipt still comes', async () => {
    await visit('m1');
    await settle(p);
    const [mail] = await captured(p, DEMO, 'email');
    const { unsubscribe, preferences } = linksOf(mail!.content.text);
    expect(mail!.content.headers).toMatchObject({
      'List-Unsubscribe': expect.stringContaining(unsubscribe!),
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    for (let times = 0; times < 3; times++)
      for (const path of [unsubscribe!, preferences!]) expect((await p.rest('GET', path)).status).toBe(200);
    await visit('m2');
    expect(await outcome(p, 'm2')).toMatchObject({ email: 'sent' });
    for (let times = 0; times < 2; times++) expect((await form(unsubscribe!, 'List-Unsubscribe=One-Click')).status).toBe(200);
    await visit('m3');
    expect(await outcome(p, 'm3')).toEqual({ email: 'skipped topic_off', in_app: 'delivered' });
    await send(p, { dedupe_key: 'order-after' });
    expect(await outcome(p, 'order-after')).toMatchObject({ email: 'sent' });
    const page = String((await p.rest('GET', preferences!)).body);
    expect([page.includes('d•••@e•••.test'), page.includes('demo@example.test'), /retest|Measuring|Laboratory/.test(page)]).toEqual([
      true,
      false,
      false,
    ]);
    await form(preferences!, 'on=membership&on=visits');
    await visit('m4');
    expect(await outcome(p, 'm4')).toMatchObject({ email: 'sent' });
    expect((await p.rest('GET', '/comms/v1/unsubscribe/nobody')).status).toBe(404);
    expect((await p.sql("select 1 from comms.audit_log where action = 'mail.unsubscribed'")).length).toBeGreaterThan(0);
  });

  test('a link of a mail stops the address that it went to, and not the one that the person has now', async () => {
    await visit('m5');
    await settle(p);
    const { unsubscribe } = linksOf((await captured(p, DEMO, 'email'))[0]!.content.text);
    await mailTo(DEMO, 'moved@example.test');
    await form(unsubscribe!, 'all=1');
    await visit('m6');
    expect(await outcome(p, 'm6')).toMatchObject({ email: 'sent' });
    await mailTo(DEMO, 'demo@example.test');
    await visit('m7');
    expect(await outcome(p, 'm7')).toMatchObject({ email: 'skipped suppressed' });
  });

  test('12: two transient answers, then a good one, are three attempts of one Message-ID', async () => {
    await mailTo(DEMO, 'transient2@example.test');
    await send(p, { dedupe_key: 'slow' });
    await settle(p);
    await p.clock('comms', { advance: 'PT30S' });
    await p.clock('comms', { advance: 'PT2M' });
    const mail = (await messagesOf(p, 'slow')).find(one => one.channel === 'email')!;
    expect([mail.status, mail.attempts.map(one => one.outcome)]).toEqual(['sent', ['transient', 'transient', 'accepted']]);
    expect((await captured(p, DEMO, 'email')).map(one => one.content.headers['Message-ID'])).toEqual([expect.stringContaining(mail.id)]);
  });

  test('13: a mailbox that does not exist bounces, and gets nothing more', async () => {
    await mailTo(DEMO, 'bounce@example.test');
    await send(p, { dedupe_key: 'bounced' });
    expect(await outcome(p, 'bounced')).toMatchObject({ email: 'bounced invalid_address' });
    await send(p, { dedupe_key: 'bounced-again' });
    expect(await outcome(p, 'bounced-again')).toMatchObject({ email: 'skipped suppressed' });
    const found = await rest('POST', '/v1/admin/suppressions/search', service, { channel: 'email', address: 'Bounce@Example.test' });
    expect(found.body.data).toMatchObject([{ reason: 'hard_bounce', scope: 'all' }]);
    expect(JSON.stringify(await p.sql('select * from comms.suppression'))).not.toContain('bounce@');
  });

  const report = (body: object, time = Math.floor(Date.parse('2027-01-13T10:15:00Z') / 1000)) => {
    const text = JSON.stringify(body);
    const signature = createHmac('sha256', settingsOf(p.host('comms')).reportSecret)
      .update(`${time}.${text}`)
      .digest('hex');
    return p.rest('POST', '/comms/v1/webhooks/email', {
      body: text,
      headers: { 'content-type': 'application/json', 'x-comms-signature': `t=${time},v1=${signature}` },
    });
  };
  const nowSeconds = async (): Promise<number> =>
    Math.floor(Number((await p.sql<{ s: string }>('select extract(epoch from now) as s from comms.test_clock'))[0]!.s));

  test('the third soft bounce of a week leaves the address alone, also where it comes with the second', async () => {
    await mailTo(DEMO, 'soft@example.test');
    const mails: any[] = [];
    for (const key of ['soft-1', 'soft-2', 'soft-3']) {
      await send(p, { dedupe_key: key });
      await settle(p);
      mails.push((await messagesOf(p, key)).find(one => one.channel === 'email'));
    }
    const bounces = (mail: any) => async (ctx: Context) => {
      const message = await ctx.em.findOneOrFail(CommsMessage, { id: mail.id });
      Object.assign(message, { status: CommsMessageStatus.BOUNCED });
      await afterBounce(ctx, message, false, 'vendor');
    };
    await p.host('comms').transaction(bounces(mails[0]));
    await atOnce({ p, host: p.host('comms'), waitsIn: 'comms.bounce' }, bounces(mails[1]), bounces(mails[2]));
    expect(await p.sql('select reason, expires_at is not null as ends from comms.suppression')).toContainEqual({
      reason: 'hard_bounce',
      ends: true,
    });
    await mailTo(DEMO, 'demo@example.test');
  });

  test('a report counts once, only forwards, and only with a signature of lately', async () => {
    await send(p, { dedupe_key: 'reported' });
    await settle(p);
    const mail = (await messagesOf(p, 'reported')).find(one => one.channel === 'email')!;
    const now = await nowSeconds();
    const told = (id: string, type: string) =>
      report({ id, type, message_id: `<${mail.id}@localhost>`, permanent: true, code: null, at: '2027-01-13T10:15:00Z' }, now);
    expect((await told('r1', 'delivered')).status).toBe(200);
    expect((await told('r2', 'bounced')).status).toBe(200);
    expect(await outcome(p, 'reported')).toMatchObject({ email: 'delivered' });
    await told('r3', 'complained');
    expect(await outcome(p, 'reported')).toMatchObject({ email: 'complained complaint' });
    expect((await report({ id: 'r4', type: 'delivered', message_id: mail.id }, now - 400)).status).toBe(401);
    const row = (await rest('POST', '/v1/admin/suppressions/search', service, { channel: 'email', address: 'demo@example.test' })).body
      .data[0];
    expect((await rest('DELETE', `/v1/admin/suppressions/${row.id}`, service, {})).status).toBe(400);
    expect((await rest('DELETE', `/v1/admin/suppressions/${row.id}`, service, { reason: 'asked by phone' })).status).toBe(204);
  });

  describe('14: a worker that is lost', () => {
    test('before it called anybody leaves its attempt, and the message is sent once', async () => {
      fault('comms.begun');
      await send(p, { dedupe_key: 'lost-before', channels: ['email'] });
      await settle(p);
      const [mail] = await messagesOf(p, 'lost-before');
      expect([mail!.status, mail!.attempts.map(one => one.outcome)]).toEqual(['sending', [null]]);
      expect(await captured(p, DEMO, 'email')).toEqual([]);
      await lapse();
      expect(await outcome(p, 'lost-before')).toEqual({ email: 'sent' });
      expect((await messagesOf(p, 'lost-before'))[0]!.attempts.map(one => one.outcome)).toEqual([null, 'accepted']);
    });

    test('after the call sends it again with the same Message-ID, which is dropped where the provider knows it', async () => {
      fault('comms.called');
      await send(p, { dedupe_key: 'lost-after', channels: ['email'] });
      await settle(p);
      await lapse();
      expect(await outcome(p, 'lost-after')).toEqual({ email: 'sent' });
      expect(await captured(p, DEMO, 'email')).toHaveLength(1);
    });

    test('twice over a receipt gives up', async () => {
      for (const point of ['comms.begun', 'comms.called']) fault(point);
      await send(p, { dedupe_key: 'lost-twice', channels: ['email'] });
      await settle(p);
      await lapse();
      await settle(p);
      await lapse();
      expect(await outcome(p, 'lost-twice')).toEqual({ email: 'failed unknown_outcome' });
    });
  });

  test('17 and 18: another person finds nothing, and reading is not marking', async () => {
    await send(p, { dedupe_key: 'mine' });
    await settle(p);
    const { body } = await rest('GET', '/v1/inbox', member);
    expect(body.data[0]).toMatchObject({
      kind: 'order_placed',
      topic: 'orders',
      status: 'unseen',
      why: expect.stringContaining('You get this'),
    });
    const { id } = body.data[0];
    const reader = await p.userToken(DEMO, ['read:inbox']);
    expect((await rest('GET', `/v1/inbox/${id}`, other)).status).toBe(404);
    expect((await rest('GET', `/v1/messages?user_id=${DEMO}`, other)).status).toBe(404);
    expect(await rest('POST', `/v1/inbox/${id}/read`, reader)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect((await rest('POST', `/v1/inbox/${id}/read`, other)).status).toBe(404);
    expect((await rest('GET', '/v1/inbox/count', member)).body).toEqual({ unseen: 1, unread: 1 });
    for (let times = 0; times < 2; times++)
      expect(await rest('POST', `/v1/inbox/${id}/read`, member)).toMatchObject({ status: 200, body: { status: 'read' } });
    await rest('POST', `/v1/inbox/${id}/archive`, member);
    expect((await rest('GET', '/v1/inbox', member)).body.data).toEqual([]);
    expect((await rest('POST', `/v1/inbox/${id}/unread`, member)).status).toBe(409);
    await rest('POST', `/v1/inbox/${id}/restore`, member);
    await send(p, { dedupe_key: 'newer' });
    await settle(p);
    expect((await rest('POST', '/v1/inbox/seen', member, { up_to: id })).body).toEqual({ changed: 0 });
    expect((await rest('GET', '/v1/inbox/count', member)).body).toEqual({ unseen: 1, unread: 1 });
  });

  test('33: the link of a message leads its owner to it, and tells everybody else nothing', async () => {
    await send(p, { dedupe_key: 'link' });
    await settle(p);
    const [mail] = await messagesOf(p, 'link');
    const open = (id: string, token: string | null = null) => p.rest('GET', `/comms/m/${id}`, { token });
    const [nobody, unknown, mine, theirs] = [
      await open(mail!.id),
      await open('0190b3a0-1111-7000-8000-00000000dead'),
      await open(mail!.id, member),
      await open(mail!.id, other),
    ];
    expect([nobody.status, nobody.body === unknown.body || nobody.status === 303, mine.status, theirs.status]).toEqual([
      unknown.status,
      true,
      200,
      404,
    ]);
    expect(String(mine.body)).toContain('Your order');
    expect((await rest('GET', '/v1/inbox', member)).body.data[0].status).toBe('read');
  });

  test('20 and 25: what is for staff goes to each active one of the role, by mail, also at night', async () => {
    const clinicians = [crypto.randomUUID(), crypto.randomUUID()];
    for (const user of clinicians) {
      await p.sql(PERSON, [user, DEMO]);
      await makeStaff(p, user, 'clinician');
    }
    await emitAs(p, 'clinical', 'clinical.lab_result.critical.v1', {
      alert_id: crypto.randomUUID(),
      observation_id: crypto.randomUUID(),
      code: 'ldl_c',
      severity: 'critical',
      acknowledge_by: '2027-01-13T11:00:00.000Z',
    });
    await requested('critical_result', 1);
    await settle(p);
    const rows = await p.sql<{ channel: string; user_id: string | null; recipient_type: string; status: string }>(
      "select channel, user_id, recipient_type, status from comms.message where template = 'critical_result'",
    );
    const mail = { channel: 'email', user_id: null, recipient_type: 'staff', status: 'sent' };
    expect(rows).toEqual([mail, mail]);
    expect((await captured(p, null)).map(one => one.to).sort()).toEqual(
      clinicians.map(user => `staff-${user.slice(-4)}@example.test`).sort(),
    );
  });

  test('31: an owner that is not in the supergraph is named, and what needs it is not sent', async () => {
    await emitAs(p, 'booking', 'booking.visit.created.v1', {
      visit_id: crypto.randomUUID(),
      visit_type: 'follow_up',
      provider_id: crypto.randomUUID(),
      mode: 'video',
      starts_at: '2027-01-20T10:00:00.000Z',
      ends_at: '2027-01-20T10:30:00.000Z',
      time_zone: 'Europe/Berlin',
      source: 'member',
    });
    await requested('visit_booked', 1);
    await settle(p);
    const rows = await p.sql<{ status: string; status_reason: string }>(
      "select distinct status, status_reason from comms.message where template = 'visit_booked'",
    );
    expect(rows).toEqual([{ status: 'skipped', status_reason: 'owner_absent' }]);
    expect((await p.rest('GET', '/comms/readyz')).body.checks).toMatchObject({ owner_booking: 'degraded' });
  });

  test('30: a dose of a plan that was stopped is not told of', async () => {
    const at = '2027-01-14T07:00:00.000Z';
    await emitAs(p, 'clinical', 'dose.reminder.scheduled.v1', {
      reminder_id: crypto.randomUUID(),
      protocol_id: crypto.randomUUID(),
      vial_id: null,
      scheduled_for: at,
      time_zone: 'Europe/Berlin',
    });
    await requested('dose', 1);
    await settle(p);
    expect(await p.sql("select distinct status from comms.message where template = 'dose'")).toEqual([{ status: 'scheduled' }]);
    await p.clock('comms', { now: at });
    expect(await p.sql("select distinct status, status_reason from comms.message where template = 'dose'")).toEqual([
      { status: 'skipped', status_reason: 'stale' },
    ]);
  });

  describe('3 and 4: twelve markers are due', () => {
    const CODES = [
      'ldl_c',
      'hdl_c',
      'hba1c',
      'glucose',
      'tsh',
      'ferritin',
      'apob',
      'crp_hs',
      'vitamin_d',
      'insulin',
      'testosterone',
      'alt',
    ];
    /** As clinical prompts; the cycles stand in its table. */
    async function prompts(codes: string[]): Promise<void> {
      const before = await requestsOf('retest_prompt');
      for (const code of codes)
        await emitAs(p, 'clinical', 'clinical.retest.prompted.v1', { code, prompt_count: 1, prompted_at: '2027-01-14T07:00:00.000Z' });
      await requested('retest_prompt', before + codes.length);
    }

    test('they become one mail, one push and one item; the envelope names no marker', async () => {
      const open = new Set(CODES);
      const federation = p.host('comms').federation as { run: (...asked: any[]) => Promise<any> };
      const run = federation.run.bind(federation);
      federation.run = async (document, variables, options) =>
        document.source.includes('CommsRetest(')
          ? { retestCycles: { nodes: [...open].map(code => ({ code })) } }
          : run(document, variables, options);
      await prompts(CODES);
      await settle(p);
      expect(await captured(p)).toEqual([]);
      open.delete('ldl_c');
      await p.clock('comms', { advance: 'PT15M' });
      const sent = await captured(p);
      expect(sent.map(one => one.channel).sort()).toEqual(['email', 'push']);
      const { body } = await rest('GET', '/v1/inbox', member);
      expect(body.data).toHaveLength(1);
      expect(body.data[0]).toMatchObject({ kind: 'retest_prompt', count: 11 });
      const names = (await p.sql<{ name: string }>('select name from clinical.biomarker where code = any($1)', [CODES])).map(
        one => one.name,
      );
      const outside = JSON.stringify(sent);
      expect(names.filter(name => outside.includes(name))).toEqual([]);
      expect(CODES.filter(code => outside.includes(`${code}`) && code.length > 3)).toEqual([]);
      const mail = sent.find(one => one.channel === 'email')!;
      expect([mail.content.subject, mail.content.headers['List-Id']]).toEqual([
        'You have a new health reminder.',
        expect.stringContaining('account'),
      ]);
      const merged = await p.sql<{ n: number }>(
        "select count(*)::int as n from comms.message where template = 'retest_prompt' and status_reason = 'merged_into_digest'",
      );
      expect(merged[0]!.n).toBe(33);
      open.clear();
      await p.clock('comms', { advance: 'PT1H' });
      await prompts(['ldl_c']);
      await p.clock('comms', { advance: 'PT15M' });
      expect(await captured(p)).toHaveLength(2);
      expect(
        await p.sql("select distinct status_reason from comms.message where template = 'retest_prompt' and status = 'skipped'"),
      ).toEqual(expect.arrayContaining([{ status_reason: 'stale' }]));
      federation.run = run;
      const third = await p.userToken(DEMO, ['read:inbox'], { clientId: 'demo-partner-app' });
      const [own, hidden] = [await rest('GET', '/v1/inbox', member), await rest('GET', '/v1/inbox', third)].map(({ body }) => body.data[0]);
      expect([own.kind, hidden.kind, hidden.id, hidden.entity]).toEqual(['retest_prompt', 'health', own.id, null]);
    });
  });

  test('21: what is wrong with a version is listed at once, and what is published is what is sent', async () => {
    const variables = { type: 'object', properties: { number: { type: 'string', 'x-class': 'plain' } }, required: [] };
    const made = await rest('POST', '/v1/admin/templates', service, {
      key: 'spring',
      topic: 'account',
      variables,
      example: { number: '1' },
    });
    expect(made.status).toBe(201);
    const add = (body: object) =>
      rest('POST', `/v1/admin/templates/${made.body.id}/versions`, service, { channel: 'in_app', locale: 'en', title: 'News', ...body });
    const publish = (id: string) => rest('POST', `/v1/admin/templates/${made.body.id}/versions/${id}/publish`, service);
    const bad = await publish((await add({ body: '{unknown} http://x.test' })).body.id);
    expect([bad.status, bad.body.errors.map((one: { message: string }) => one.message).join()]).toEqual([
      400,
      expect.stringMatching(/unknown.*plain http|plain http.*unknown/),
    ]);
    const draft = await add({ body: 'Number {number}' });
    expect((await publish(draft.body.id)).status).toBe(200);
    expect((await publish(draft.body.id)).status).toBe(409);
    expect(
      (await rest('POST', `/v1/admin/templates/${made.body.id}/preview`, service, { channel: 'in_app', locale: 'en' })).body,
    ).toMatchObject({ body: 'Number 1' });
    await send(p, { dedupe_key: 'own', template: 'spring', channels: ['in_app'], params: { number: '7' } });
    expect(await outcome(p, 'own')).toEqual({ in_app: 'delivered' });
    expect((await rest('GET', '/v1/inbox', member)).body.data[0]).toMatchObject({ title: 'News', body: 'Number 7' });
  });

  test('one that waits can be cancelled, one that has left cannot', async () => {
    await send(p, { dedupe_key: 'cancel', channels: ['email'], send_after: '2027-02-01T00:00:00.000Z' });
    const [mail] = await messagesOf(p, 'cancel');
    expect(await rest('POST', `/v1/messages/${mail!.id}/cancel`, service)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect((await rest('POST', `/v1/messages/${mail!.id}/cancel`, service)).status).toBe(409);
  });

  test('services send to many, figures name nobody, and a person sees how they are reached', async () => {
    const { body, status } = await rest('POST', '/v1/messages/batch', service, {
      dedupe_key: 'many',
      template: 'welcome',
      user_ids: [DEMO, DEMO2, DEMO],
    });
    expect([status, body.results.map((one: { error: string | null }) => one.error)]).toEqual([202, [null, null]]);
    await settle(p);
    const stats = await rest('GET', '/v1/admin/stats?from=2027-01-01T00:00:00.000Z&to=2027-12-31T00:00:00.000Z&group_by=channel', service);
    expect([stats.body.data.map((one: { group: string }) => one.group), JSON.stringify(stats.body).includes(DEMO)]).toEqual([
      expect.arrayContaining(['email', 'in_app', 'push']),
      false,
    ]);
    const asked = await p.graphql(
      'query ($id: ID!) { user(id: $id) { email comms { reachable { email sms push } inboxCount { unseen } messages(first: 5) { nodes { channel status } } } } }',
      { id: DEMO },
      { token: await p.serviceToken() },
    );
    expect(asked.data.user.comms).toMatchObject({ reachable: { email: true, sms: false, push: true } });
    expect((await rest('GET', '/v1/topics', member)).body.data).toHaveLength(TOPICS.length);
    expect((await rest('GET', '/v1/push/key', null)).body.vapid_public_key).toMatch(/^B[\w-]{86}$/);
  });

  test('of a batch each is taken once, what is wrong with one stops no other, and all together cost as many statements as one', async () => {
    const people = [DEMO, DEMO2, ...Array.from({ length: 48 }, () => crypto.randomUUID())];
    const batch = (user_ids: string[], params = {}, dedupe_key = 'sets') =>
      rest('POST', '/v1/messages/batch', service, {
        dedupe_key,
        template: 'welcome',
        user_ids,
        params,
        send_after: '2027-02-01T00:00:00.000Z',
      });
    const one = await batch([DEMO2], { name: 'another' });
    const answers = async (asked: ReturnType<typeof batch>): Promise<(string | null)[]> =>
      (await asked).body.results.map((result: { user_id: string; error: string | null }) => result.error);
    expect(await answers(batch(people))).toEqual(people.map(id => (id === DEMO2 ? 'idempotency_mismatch' : null)));
    const again = await batch([...people].reverse());
    const ids = (answer: typeof one) => answer.body.results.map((result: { request: { id: string } | null }) => result.request?.id);
    expect(ids(again)).toEqual(ids(await batch(people)).reverse());
    const rows = await p.sql<{ n: number }>(
      `select count(*)::int as n from comms.message m join comms.send_request r on r.id = m.request_id where r.dedupe_key like 'sets:%'`,
    );
    expect(rows[0]!.n).toBe(people.length * one.body.results[0].request.messages.length);
    const statements = async (user_ids: string[], key: string): Promise<number> =>
      (await askedDuring(p, () => batch(user_ids, {}, key))).filter(({ text }) =>
        /^\s*insert into comms\.(send_request|message) /.test(text),
      ).length;
    expect(await statements(people, 'of 50')).toBe(await statements([DEMO], 'of one'));
  });

  test('16: mentions of one post are one item in the app', async () => {
    const post = crypto.randomUUID();
    const federation = p.host('comms').federation as { run: (...asked: any[]) => Promise<any> };
    const run = federation.run.bind(federation);
    federation.run = async (document, variables, options) =>
      document.source.includes('CommsMention(') ? { communityPost: { id: post, noticeText: 'Hello' } } : run(document, variables, options);
    await rest('PATCH', '/v1/preferences', member, { digest: { mentions: 'daily' } });
    for (let times = 0; times < 3; times++)
      await emitAs(p, 'community', 'community.mention.created.v1', {
        mention_id: crypto.randomUUID(),
        post_id: post,
        comment_id: null,
        by_user_id: DEMO2,
      });
    await requested('mention', 3);
    await settle(p);
    federation.run = run;
    const { body } = await rest('GET', '/v1/inbox?topic=community', member);
    expect(body.data).toMatchObject([{ kind: 'mention', count: 3, entity: { type: 'post', id: post } }]);
    expect(await p.sql("select distinct status_reason from comms.message where template = 'mention' and channel = 'push'")).toEqual([
      { status_reason: 'merged_into_digest' },
    ]);
  });

  test('23: erasure cancels what waits and leaves no address, word or choice; what wants nothing stays a hash', async () => {
    await send(p, { dedupe_key: 'future', user_id: DEMO2, send_after: '2027-06-01T00:00:00.000Z' });
    await send(p, { dedupe_key: 'past', user_id: DEMO2 });
    await settle(p);
    await rest('POST', '/v1/admin/suppressions', service, { channel: 'email', address: 'demo2@example.test' });
    for (let times = 0; times < 2; times++)
      await emitAs(
        p,
        'identity',
        'user.erasure_requested.v1',
        { request_id: crypto.randomUUID(), scope: 'full', requested_at: '2027-01-14T08:00:00.000Z', due_at: '2027-02-14T08:00:00.000Z' },
        DEMO2,
      );
    await until(
      'the erasure',
      () => p.sql('select 1 from comms.message where user_id = $1 and content_sealed is not null', [DEMO2]),
      rows => rows.length === 0,
    );
    expect(
      await p.sql(
        'select distinct status, status_reason from comms.message where request_id = (select id from comms.send_request where dedupe_key = $1)',
        ['future'],
      ),
    ).toEqual([{ status: 'cancelled', status_reason: 'erased' }]);
    for (const table of ['inbox_item', 'captured_message', 'push_subscription', 'preference', 'mail_token'])
      expect(await p.sql(`select 1 from comms.${table} where user_id = $1`, [DEMO2])).toEqual([]);
    expect(
      await p.sql('select 1 from comms.message where user_id = $1 and (recipient_masked is not null or address_hash is not null)', [DEMO2]),
    ).toEqual([]);
    expect(await p.sql('select 1 from comms.suppression')).toHaveLength(1);
    for (const { name } of await p.sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'comms' and table_type = 'BASE TABLE'",
    ))
      expect(
        (await p.sql<{ row: string }>(`select t::text as row from comms."${name}" t`)).some(({ row }) =>
          row.includes('demo2@example.test'),
        ),
      ).toBe(false);
  });
});

void BRAND;
