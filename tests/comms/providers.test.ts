import { createDecipheriv, createECDH, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jwtVerify, importJWK } from 'jose';
import type { Rendered } from '../../subgraphs/comms/ports/provider.js';
import { smtpProvider } from '../../subgraphs/comms/ports/smtp.js';
import { twilioProvider } from '../../subgraphs/comms/ports/twilio.js';
import { webPushProvider } from '../../subgraphs/comms/ports/web-push.js';
import { parseNetworks } from '../../runtime/http/public-address.js';

const LOCAL = parseNetworks('127.0.0.0/8');
const MAIL: Rendered = {
  messageId: '0190b3a0-1111-7000-8000-000000000001',
  userId: null,
  from: 'Main <no-reply@mail.example.test>',
  subject: 'An offer',
  text: 'Plain words',
  html: '<p>Words</p>',
  headers: {
    'Message-ID': '<0190b3a0-1111-7000-8000-000000000001@mail.example.test>',
    'Auto-Submitted': 'auto-generated',
    'List-Id': '<offers.main>',
    'List-Unsubscribe': '<https://mail.example.test/comms/v1/unsubscribe/t>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
  attachments: [{ filename: 'event.ics', content: 'BEGIN:VCALENDAR', contentType: 'text/calendar; charset=utf-8' }],
  push: {
    title: 'Main',
    body: 'You have a new health reminder.',
    deepLink: 'https://x.test/m/1',
    badge: 2,
    ttlSeconds: 3600,
    urgent: false,
  },
};

describe('mail by a real SMTP server', () => {
  const got: string[] = [];
  let refusals: { code: number; text: string }[] = [];
  let cuts: ('before' | 'after')[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo(_address, _session, done) {
      if (cuts[0] === 'before') return cut();
      const refusal = refusals.shift();
      done(refusal ? Object.assign(new Error(refusal.text), { responseCode: refusal.code }) : undefined);
    },
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', chunk => chunks.push(chunk as Buffer));
      stream.on('end', () => {
        got.push(Buffer.concat(chunks).toString());
        if (cuts.length) cut();
        else done();
      });
    },
  });
  const cut = (): void => {
    cuts = [];
    server.connections.forEach(({ _socket }: any) => _socket.destroy());
  };
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  let provider: ReturnType<typeof smtpProvider>;
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.server.address() as AddressInfo;
    provider = smtpProvider({
      smtpUrl: `smtp://127.0.0.1:${port}`,
      dkim: { domain: 'mail.example.test', selector: 's1', key: privateKey as unknown as string },
    });
  });
  afterAll(async () => {
    await provider.close!();
    await new Promise<void>(resolve => server.close(resolve));
  });
  const send = () => provider.send(MAIL, { address: 'demo@example.test' }, 'k');

  test('a marketing mail has both List-Unsubscribe headers, both in DKIM h=, which verifies, and text and HTML parts', async () => {
    expect(await send()).toMatchObject({ kind: 'accepted' });
    const raw = got.at(-1)!;
    const resolver = async () => [[`v=DKIM1; k=rsa; p=${(publicKey as unknown as Buffer).toString('base64')}`]];
    const { results } = await dkimVerify(raw, { resolver } as never);
    expect(results[0]!.status.result).toBe('pass');
    const signed = /[; ]h=([^;]+);/.exec(raw.replaceAll(/\r\n\s+/g, ''))![1]!.toLowerCase();
    expect(signed.split(':').map(one => one.trim())).toEqual(
      expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post', 'list-id', 'message-id']),
    );
    const mail = await PostalMime.parse(raw);
    expect([mail.text?.trim(), mail.html?.trim(), mail.messageId, mail.attachments[0]?.filename]).toEqual([
      'Plain words',
      '<p>Words</p>',
      MAIL.headers['Message-ID'],
      'event.ics',
    ]);
  });

  test.each([
    [451, '4.3.0 try later', { kind: 'transient' }],
    [550, '5.1.1 no such user', { kind: 'permanent', code: '5.1.1', bounced: true, invalid: true }],
    [552, '5.2.2 mailbox full', { kind: 'permanent', code: '5.2.2', bounced: true, invalid: false }],
  ])('an answer of %i is read as it is meant', async (code, text, outcome) => {
    refusals = [{ code, text }];
    expect(await send()).toMatchObject(outcome);
  });

  test('a connection that breaks before the mail is handed over is opened again; afterwards nobody knows what came of the mail', async () => {
    const before = got.length;
    cuts = ['before'];
    expect(await send()).toMatchObject({ kind: 'accepted' });
    cuts = ['after'];
    expect(await send()).toMatchObject({ kind: 'unknown' });
    expect(got).toHaveLength(before + 2);
  });

  test('a server that is not there is a transient failure', async () => {
    const nowhere = smtpProvider({ smtpUrl: 'smtp://127.0.0.1:9', dkim: null });
    expect(await nowhere.send(MAIL, { address: 'demo@example.test' }, 'k')).toMatchObject({ kind: 'transient' });
    await nowhere.close!();
  });
});

interface Got {
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** A server that answers in turn and keeps what came. */
async function double(): Promise<{ url: string; got: Got[]; answers: { status: number; body?: string }[]; close(): void }> {
  const got: Got[] = [];
  const answers: { status: number; body?: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk as Buffer));
    request.on('end', () => {
      got.push({ path: request.url!, headers: request.headers, body: Buffer.concat(chunks) });
      const { status, body = '{"sid":"SM1"}' } = answers.shift() ?? { status: 201 };
      response.writeHead(status).end(body);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got, answers, close: () => void server.close() };
}

describe('Web Push', () => {
  const device = createECDH('prime256v1');
  const auth = randomBytes(16);
  const vapidCurve = createECDH('prime256v1');
  let push: Awaited<ReturnType<typeof double>>;
  let provider: ReturnType<typeof webPushProvider>;
  beforeAll(async () => {
    device.generateKeys();
    vapidCurve.generateKeys();
    push = await double();
    provider = webPushProvider({
      egress: LOCAL,
      vapid: {
        subject: 'mailto:push@example.test',
        publicKey: vapidCurve.getPublicKey('base64url'),
        privateKey: vapidCurve.getPrivateKey('base64url'),
      },
    });
  });
  afterAll(() => push.close());
  const send = () =>
    provider.send(
      MAIL,
      { device: { id: 'd', endpoint: `${push.url}/push/abc`, p256dh: device.getPublicKey('base64url'), auth: auth.toString('base64url') } },
      'k',
    );

  /** RFC 8188 and 8291, as a browser opens it. */
  function opened(body: Buffer): Record<string, unknown> {
    const [salt, keyLength] = [body.subarray(0, 16), body[20]!];
    const serverKey = body.subarray(21, 21 + keyLength);
    const shared = device.computeSecret(serverKey);
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), device.getPublicKey(), serverKey]);
    const secret = Buffer.from(hkdfSync('sha256', shared, auth, info, 32));
    const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16));
    const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
    const sealed = body.subarray(21 + keyLength);
    const cipher = createDecipheriv('aes-128-gcm', key, nonce);
    cipher.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
    return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString()) as Record<string, unknown>;
  }

  test('a push is encrypted for the device and signed by VAPID', async () => {
    expect(await send()).toEqual({ kind: 'accepted', ref: null });
    const { headers, body } = push.got.at(-1)!;
    expect(opened(body)).toEqual({
      title: 'Main',
      body: 'You have a new health reminder.',
      deep_link: 'https://x.test/m/1',
      notification_id: MAIL.messageId,
      badge: 2,
    });
    expect([headers.ttl, headers.urgency, headers['content-encoding'], headers.topic?.length]).toEqual(['3600', 'normal', 'aes128gcm', 32]);
    const token = /t=([^,]+)/.exec(headers.authorization!)![1]!;
    const point = vapidCurve.getPublicKey();
    const key = await importJWK(
      { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') },
      'ES256',
    );
    const { payload } = await jwtVerify(token, key, { audience: push.url });
    expect(payload.sub).toBe('mailto:push@example.test');
  });

  test('the same message has the same Topic, so that a retry replaces what waits', async () => {
    await send();
    await send();
    expect(push.got.at(-1)!.headers.topic).toBe(push.got.at(-2)!.headers.topic);
  });

  test.each([
    [410, { kind: 'permanent', invalid: true }],
    [404, { kind: 'permanent', invalid: true }],
    [429, { kind: 'transient' }],
    [503, { kind: 'transient' }],
    [400, { kind: 'permanent', invalid: false }],
  ])('an answer of %i', async (status, outcome) => {
    push.answers.push({ status });
    expect(await send()).toMatchObject(outcome);
  });

  test('what is too large is sent again as a title only', async () => {
    push.answers.push({ status: 413 }, { status: 201 });
    expect(await send()).toMatchObject({ kind: 'accepted' });
    expect(opened(push.got.at(-1)!.body)).not.toHaveProperty('body');
  });

  test('an endpoint in a private network is never connected to', async () => {
    const guarded = webPushProvider({
      egress: [],
      vapid: {
        subject: 'mailto:push@example.test',
        publicKey: vapidCurve.getPublicKey('base64url'),
        privateKey: vapidCurve.getPrivateKey('base64url'),
      },
    });
    const before = push.got.length;
    const outcome = await guarded.send(
      MAIL,
      { device: { id: 'd', endpoint: `${push.url}/push/abc`, p256dh: device.getPublicKey('base64url'), auth: auth.toString('base64url') } },
      'k',
    );
    expect([outcome, push.got.length]).toEqual([{ kind: 'permanent', code: 'blocked', bounced: false, invalid: true }, before]);
  });
});

describe('SMS in the form of Twilio', () => {
  let sms: Awaited<ReturnType<typeof double>>;
  beforeAll(async () => void (sms = await double()));
  afterAll(() => sms.close());
  const send = () =>
    twilioProvider({ egress: LOCAL, twilio: { url: sms.url, account: 'AC1', token: 'secret', from: '+15550000000' } }).send(
      { ...MAIL, text: 'Your code is 123456.' },
      { address: '+14155550142' },
      'key-1',
    );

  test('a text is posted with the account, the key and nothing else', async () => {
    expect(await send()).toEqual({ kind: 'accepted', ref: 'SM1' });
    const { path, headers, body } = sms.got.at(-1)!;
    expect([path, headers['i-twilio-idempotency-token'], Object.fromEntries(new URLSearchParams(body.toString()))]).toEqual([
      '/2010-04-01/Accounts/AC1/Messages.json',
      'key-1',
      { To: '+14155550142', From: '+15550000000', Body: 'Your code is 123456.' },
    ]);
  });
  test.each([
    [429, '{}', { kind: 'transient' }],
    [500, '{}', { kind: 'transient' }],
    [400, '{"code":21211}', { kind: 'permanent', code: '21211', invalid: true }],
    [400, '{"code":30001}', { kind: 'permanent', code: '30001', invalid: false }],
  ])('an answer of %i %s', async (status, body, outcome) => {
    sms.answers.push({ status, body });
    expect(await send()).toMatchObject(outcome);
  });
});
