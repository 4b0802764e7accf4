import pg from 'pg';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Federation } from '../../runtime/federation/federation.js';
import { providersOf } from '../../subgraphs/comms/ports/providers.js';
import { readSettings, settingsOf } from '../../subgraphs/comms/ports/settings.js';
import { authorizeUrl, Browser, proof } from '../identity/browser.js';
import { makeStaff } from '../identity/staff.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { captured, emitAs, messagesOf, outcome, send, settle, type Captured } from './asking.js';

/** Acceptance cases of the contract that need an owner, a vendor or a state of the world of their own. */
let p: TestPlatform;

/** What owners and vendors answer here, by the name of the document. */
const answers: Record<string, () => object> = {};

const mailTo = (address: string): Promise<unknown> =>
  p.sql('update identity.user_email set email = $2, email_key = $2, verified_at = now() where user_id = $1', [DEMO, address]);
const rows = (template: string): Promise<any[]> =>
  p.sql('select channel, status, status_reason as reason, category from comms.message where template = $1 order by channel', [template]);
const sentBy = (template: string, count: number): Promise<any[]> =>
  until(
    `${count} messages of ${template}`,
    () => settle(p).then(() => rows(template)),
    all => all.length === count && all.every(one => one.status !== 'pending' && one.status !== 'queued'),
  );

beforeAll(async () => {
  p = await platform({ services: ['comms', 'clinical', 'events'] });
  const federation = p.host('comms').federation as { run: Federation['run'] };
  const real = federation.run.bind(federation);
  federation.run = async (document, variables, options) => {
    const known = answers[/^\s*query (\w+)/.exec(document.source)![1]!];
    return (known ? known() : await real(document, variables, options)) as never;
  };
}, 240_000);

beforeEach(async () => {
  for (const name of Object.keys(answers)) delete answers[name];
  await mailTo('demo@example.test');
  await p.sql("update identity.user_settings set time_zone = 'Europe/Berlin', time_zone_set_at = now() where user_id = $1", [DEMO]);
  for (const table of ['captured_message', 'push_subscription', 'suppression', 'inbox_item']) await p.sql(`delete from comms.${table}`);
});

const askLink = async (email: string): Promise<unknown> => {
  const browser = new Browser();
  return browser.submit(await browser.open(p, authorizeUrl(p, { client: 'demo-app' }, proof())), '/magic-link', { email });
};

describe('by the clock on the wall', () => {
  test('19: a magic link comes from identity at the moment of sending; nothing of it is kept, shown or logged', async () => {
    await askLink('demo@example.test');
    const [mail] = await until(
      'the mail',
      () => captured(p),
      all => all.length > 0,
    );
    const link = /https?:\/\/\S+\/identity\/v1\/auth\/magic\/([\w-]{43})/.exec(mail!.content.text);
    expect([mail!.to, link === null]).toEqual(['demo@example.test', false]);
    const messages = await p.sql<{ row: string }>('select m::text as row from comms.message m');
    const requests = await p.sql<{ row: string }>('select r::text as row from comms.send_request r');
    const everywhere = [...messages, ...requests].map(({ row }) => row).join('\n');
    expect([everywhere.includes(link![1]!), everywhere.includes('demo@example.test')]).toEqual([false, false]);
    expect(await p.sql('select 1 from comms.message where is_auth and content_sealed is not null')).toEqual([]);
    expect(await p.sql('select 1 from comms.inbox_item')).toEqual([]);
    const service = await p.serviceToken('admin:comms');
    const read = await p.rest('GET', `/comms/v1/messages/${mail!.message_id}`, { token: service });
    expect(read).toMatchObject({ status: 200, body: { content: null, status: 'sent' } });
  });

  test('24: a server that is down is tried three times, after 2 and 15 seconds; then the delivery has expired, and identity was asked three times', async () => {
    await mailTo('transient9@example.test');
    await askLink('transient9@example.test');
    const [message] = await until(
      'the end of the delivery',
      () => p.sql("select id, status, status_reason as reason from comms.message where is_auth and status = 'failed'"),
      all => all.length > 0,
    );
    expect(message).toMatchObject({ status: 'failed', reason: 'expired' });
    const attempts = await p.sql<{ outcome: string; at: number }>(
      'select outcome, (extract(epoch from at) * 1000)::float8 as at from comms.message_attempt where message_id = $1 order by number',
      [message.id],
    );
    expect(attempts.map(one => one.outcome)).toEqual(['transient', 'transient', 'transient']);
    const [first, second, third] = attempts.map(one => one.at);
    expect([second! - first! >= 2_000, third! - second! >= 15_000]).toEqual([true, true]);
    expect(await p.sql('select deliveries from identity.auth_challenge order by created_at desc limit 1')).toEqual([{ deliveries: 3 }]);
    expect(await captured(p)).toEqual([]);
  });
});

describe('by the clock of the test', () => {
  beforeAll(() => p.clock('comms', { now: '2027-01-12T12:00:00.000Z' }));

  const device = async (name: string): Promise<void> => {
    const token = await p.userToken(DEMO, ['manage:preferences']);
    const body = {
      platform: 'web',
      endpoint: `https://push.example.test/${name}`,
      keys: { p256dh: 'B'.repeat(87), auth: 'a'.repeat(22) },
      label: name,
    };
    expect((await p.rest('POST', '/comms/v1/push-subscriptions', { token, body })).status).toBe(201);
  };

  test('15: a push endpoint that is gone is asked once and never again; the other devices are served', async () => {
    const push = providersOf(p.host('comms')).push!;
    const [sending, asked] = [push.send, [] as string[]];
    push.send = async (rendered, target, key) => {
      const { endpoint } = (target as { device: { endpoint: string } }).device;
      asked.push(endpoint.split('/').at(-1)!);
      return endpoint.endsWith('gone') ? { kind: 'permanent', code: '410', bounced: false, invalid: true } : sending(rendered, target, key);
    };
    await device('gone');
    await device('here');
    const chat = { template: 'chat_message', params: { conversation_id: '0190b3a0-1111-7000-8000-000000000001' } };
    await send(p, { dedupe_key: 'first', ...chat });
    expect(await outcome(p, 'first')).toMatchObject({ push: 'sent' });
    await send(p, { dedupe_key: 'second', ...chat });
    expect(await outcome(p, 'second')).toMatchObject({ push: 'sent' });
    push.send = sending;
    expect(asked.sort()).toEqual(['gone', 'here', 'here']);
    expect(await p.sql('select label, status from comms.push_subscription order by label')).toEqual([
      { label: 'gone', status: 'gone' },
      { label: 'here', status: 'active' },
    ]);
    expect((await messagesOf(p, 'first')).find(one => one.channel === 'push')!.attempts).toHaveLength(1);
  });

  test('16: a digest of mentions is one mail, at its hour', async () => {
    answers.CommsMentionDigest = () => ({ mentionDigest: { items: [{ id: '1' }, { id: '2' }, { id: '3' }] } });
    const window = { window_start: '2027-01-11T00:00:00.000Z', window_end: '2027-01-12T00:00:00.000Z' };
    const digest = { digest_id: crypto.randomUUID(), mention_count: 3, ...window, send_at: '2027-01-12T14:00:00.000Z' };
    await emitAs(p, 'community', 'mention.digest.scheduled.v1', digest);
    expect(await sentBy('mention_digest', 1)).toMatchObject([{ channel: 'email', status: 'scheduled' }]);
    await p.clock('comms', { now: '2027-01-12T13:59:00.000Z' });
    expect(await captured(p)).toEqual([]);
    await p.clock('comms', { now: '2027-01-12T14:00:00.000Z' });
    expect((await captured(p)).map(one => [one.channel, one.content.subject])).toEqual([['email', 'What you missed']]);
  });

  test('22: STOP that is received twice is one suppression and one confirmation', async () => {
    const number = '+15550100077';
    answers.CommsVendorReceipt = () => ({ vendorWebhookReceipt: { body: { From: number, Body: ' stop please' } } });
    for (let times = 0; times < 2; times++) {
      const receipt = { receipt_id: crypto.randomUUID(), vendor_event_id: `SM${times}`, vendor_event_type: 'message.received' };
      const id = await emitAs(p, 'integrations', 'integration.telephony.webhook.received.v1', {
        ...receipt,
        received_at: '2027-01-12T14:00:00.000Z',
      });
      await until(
        'the text to be handled',
        () => p.sql("select 1 from comms.inbox where consumer = 'comms.vendors' and event_id = $1", [id]),
        seen => seen.length > 0,
      );
    }
    expect(await sentBy('sms_stop', 1)).toMatchObject([{ channel: 'sms', status: 'sent' }]);
    expect(await p.sql('select channel, reason, scope from comms.suppression')).toEqual([{ channel: 'sms', reason: 'stop', scope: 'all' }]);
    expect((await captured(p, null, 'sms')).map(one => one.to)).toEqual([number]);
  });

  test('25: a page of a critical result is sent as transactional to each active clinician, at night too; an unknown template is refused with an alarm', async () => {
    await makeStaff(p, DEMO2, 'clinician');
    await p.clock('comms', { now: '2027-01-12T23:30:00.000Z' });
    const asked = { request_id: crypto.randomUUID(), template: 'critical_lab_page', channels: ['email'], send_after: null };
    const to = { recipient_type: 'staff_role', recipient_id: 'clinician', category: 'clinical' };
    const page = { ...asked, ...to, params: { alert_id: crypto.randomUUID(), number: 2 }, dedupe_key: 'page' };
    await emitAs(p, 'workflow', 'comms.message.send_requested.v1', page, null);
    expect(await sentBy('critical_lab_page', 1)).toEqual([{ channel: 'email', status: 'sent', reason: null, category: 'transactional' }]);
    const unknown = { ...page, request_id: crypto.randomUUID(), template: 'nope', dedupe_key: 'unknown' };
    await emitAs(p, 'workflow', 'comms.message.send_requested.v1', unknown, null);
    const [request] = await until(
      'the refusal',
      () => p.sql("select status, reject_reason as reason from comms.send_request where template = 'nope'"),
      all => all.length > 0,
    );
    expect(request).toEqual({ status: 'rejected', reason: 'no_template' });
    expect((await p.rest('GET', '/comms/readyz')).body).toMatchObject({ status: 'degraded', checks: { templates_known: 'degraded' } });
  });

  test('27: the title of a session stands in its mail, with the link and the calendar file, and nowhere that others see', async () => {
    const [title, starts_at] = ['Ask the lab: ferritin', '2027-01-20T10:00:00.000Z'];
    answers.CommsLiveRegistration = () => ({
      liveRegistration: { status: 'CONFIRMED', calendarFile: 'BEGIN:VCALENDAR', session: { title, startsAt: starts_at } },
    });
    await p.clock('comms', { now: '2027-01-13T12:00:00.000Z' });
    await device('phone');
    const registered = { session_id: crypto.randomUUID(), registration_id: crypto.randomUUID(), starts_at };
    await emitAs(p, 'live', 'live.session.registered.v1', registered);
    await sentBy('live_registered', 3);
    const sent = await captured(p);
    const [mail, push] = ['email', 'push'].map(channel => sent.find(one => one.channel === channel)!) as [Captured, Captured];
    expect(mail.content.text).toContain(title);
    expect(mail.content.text).toMatch(/https?:\/\/\S+\/comms\/m\/[0-9a-f-]{36}/);
    expect(mail.content.attachments.map(one => one.filename)).toEqual(['event.ics']);
    const preheader = /<div[^>]*display:\s*none[^>]*>([^<]*)/.exec(mail.content.html!)?.[1];
    const { subject, headers } = mail.content;
    expect(JSON.stringify([subject, headers, preheader, push.content.push])).not.toMatch(/ferritin|Ask the lab/i);
    await p.sql('delete from comms.captured_message');
    await p.clock('comms', { now: '2027-01-20T09:55:00.000Z' });
    const reminders = await captured(p);
    expect(reminders.length).toBeGreaterThan(0);
    for (const { content } of reminders)
      expect(JSON.stringify([content.subject, content.headers, content.push])).not.toMatch(/ferritin|Ask the lab/i);
  });

  test('29: a red flag is told by mail, push and in the app, and by no text to a number that nobody has proved', async () => {
    await p.sql(`update identity."user" set phone = '+15550100042', phone_verified_at = null where id = $1`, [DEMO]);
    await device('phone');
    const flag = crypto.randomUUID();
    answers.CommsRedFlagUrgent = () => ({ redFlags: { nodes: [{ id: flag, status: 'OPEN', visibleToMember: true }] } });
    const detected = { flag_id: flag, rule: 'sustained_high_heart_rate', severity: 'urgent', source: 'wearable' };
    await emitAs(p, 'clinical', 'clinical.red_flag.detected.v1', { ...detected, detected_at: '2027-01-20T09:55:00.000Z' });
    const told = await sentBy('red_flag_urgent', 4);
    expect(Object.fromEntries(told.map(one => [one.channel, one.reason ?? one.status]))).toEqual({
      email: 'sent',
      in_app: 'delivered',
      push: 'sent',
      sms: 'unverified_address',
    });
  });

  describe('what was not sent is explained:', () => {
    const CHAT = { template: 'chat_message', params: { conversation_id: '0190b3a0-1111-7000-8000-000000000001' } };

    const MEMBERSHIP = { template: 'membership_activated', params: { membership_id: '0190b3a0-1111-7000-8000-000000000001' } };

    /** The check that kept a message back. */
    async function heldBack(key: string, channel: string): Promise<{ reason: string | null; failed: object[] }> {
      await settle(p);
      const message = (await messagesOf(p, key)).find(one => one.channel === channel)!;
      const token = await p.serviceToken('admin:comms');
      const { body } = await p.rest('GET', `/comms/v1/admin/messages/${message.id}/explain`, { token });
      return { reason: message.status_reason, failed: body.checks.filter((one: { passed: boolean }) => !one.passed) };
    }

    test('a cap', async () => {
      await p.clock('comms', { now: '2027-01-25T12:00:00.000Z' });
      await device('phone');
      for (let n = 1; n <= 11; n++) await send(p, { dedupe_key: `push-${n}`, ...CHAT });
      expect(await heldBack('push-11', 'push')).toEqual({
        reason: 'channel_off',
        failed: [{ check: 'frequency', passed: false, fact: '10 lately' }],
      });
      expect(await captured(p, DEMO, 'push')).toHaveLength(10);
    });

    test('a cap that another worker uses up while this one waits for the person', async () => {
      const [before, now] = ['2027-02-06T12:00:00.000Z', '2027-02-10T12:00:00.000Z'];
      await p.clock('comms', { now: before });
      await device('phone');
      for (let n = 1; n <= 10; n++) await send(p, { dedupe_key: `push-before-${n}`, ...CHAT });
      await settle(p);
      await p.clock('comms', { now });
      const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
      await other.connect();
      try {
        await other.query('begin');
        await other.query(`select pg_advisory_xact_lock(hashtextextended('comms-cap:' || $1::text, 7))`, [DEMO]);
        await send(p, { dedupe_key: 'push-too-late', ...CHAT });
        const settled = settle(p);
        await until(
          'the worker to wait',
          () => p.sql(`select 1 from pg_stat_activity where wait_event = 'advisory' and query like '%comms-cap%'`),
          rows => rows.length > 0,
        );
        const used = `update comms.message set created_at = $2 where user_id = $1 and channel = 'push' and status = 'sent' and created_at::date = $3::date`;
        expect((await other.query(used, [DEMO, now, before])).rowCount).toBe(10);
        await other.query('commit');
        await settled;
      } finally {
        await other.end();
      }
      const failed = [{ check: 'frequency', passed: false, fact: '10 lately' }];
      expect(await heldBack('push-too-late', 'push')).toEqual({ reason: 'channel_off', failed });
    });

    test('a preference', async () => {
      const token = await p.userToken(DEMO, ['manage:preferences']);
      const body = { topics: [{ topic: 'membership', channels: { email: false } }] };
      expect((await p.rest('PATCH', '/comms/v1/preferences', { token, body })).status).toBe(200);
      await send(p, { dedupe_key: 'unwanted', ...MEMBERSHIP });
      expect(await heldBack('unwanted', 'email')).toEqual({
        reason: 'topic_off',
        failed: [{ check: 'topic', passed: false, fact: 'membership/email topic_off' }],
      });
      await p.sql('delete from comms.preference');
    });

    test('a suppression', async () => {
      const token = await p.serviceToken('admin:comms');
      const body = { channel: 'email', address: 'demo@example.test' };
      expect((await p.rest('POST', '/comms/v1/admin/suppressions', { token, body })).status).toBe(201);
      await send(p, { dedupe_key: 'suppressed', ...MEMBERSHIP });
      expect(await heldBack('suppressed', 'email')).toMatchObject({
        reason: 'suppressed',
        failed: [{ check: 'suppression', passed: false }],
      });
    });

    test('a consent that nobody gave', async () => {
      await p.sql('update identity.user_settings set marketing_consent = false where user_id = $1', [DEMO]);
      await send(p, {
        dedupe_key: 'advert',
        template: 'win_back',
        params: { offer_key: 'come_back_20', ends_at: '2027-02-24T10:30:00.000Z' },
      });
      expect(await heldBack('advert', 'email')).toMatchObject({ reason: 'topic_off', failed: [{ check: 'consent', passed: false }] });
      expect(await captured(p)).toEqual([]);
    });
  });

  test('34: the mailbox of development is not there in production, and not where nothing is captured', async () => {
    const { config } = p.host('comms');
    expect((await p.rest('GET', '/dev/mail')).status).toBe(200);
    const production = { ...config, production: true, setting: () => undefined };
    const smtp = {
      ...config,
      setting: (name: string) => ({ COMMS_EMAIL: 'smtp', COMMS_SMTP_URL: 'smtp://localhost' })[name] ?? config.setting(name),
    };
    expect([production, smtp].map(one => readSettings(one).showsCaptured)).toEqual([false, false]);
    Object.assign(settingsOf(p.host('comms')), { showsCaptured: false });
    expect((await p.rest('GET', '/dev/mail')).status).toBe(404);
    Object.assign(settingsOf(p.host('comms')), { showsCaptured: true });
  });
});
