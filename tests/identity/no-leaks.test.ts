import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { dropDatabase } from '../support/database.js';
import { DEMO, platformEnv, RemotePlatform, seededDatabase, type TestPlatform } from '../support/platform.js';
import { startProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { authorizeUrl, Browser, PASSWORD, proof, signIn, type Page } from './browser.js';
import { deliver, newestMail, type Delivery } from './mailbox.js';

const KEY = Buffer.alloc(32, 9);
const NEW_PASSWORD = 'lantern orbit cactus 27';

let p: TestPlatform;
/** Everything that the process has printed, at the finest level. */
let log = '';

beforeAll(async () => {
  const databaseUrl = await seededDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-leaks-'));
  const env = await platformEnv(databaseUrl, {
    env: { LOG_LEVEL: 'trace', DATA_DIR: dataDir, IDP_WEBHOOK_SECRET: KEY.toString('base64') },
  });
  const child = startProcess(env);
  for (const stream of [child.process.stdout!, child.process.stderr!]) stream.on('data', (chunk: Buffer) => void (log += chunk.toString()));
  const remote = new RemotePlatform(env, new pg.Pool({ connectionString: databaseUrl, max: 2 }));
  p = remote as unknown as TestPlatform;
  atEnd(async () => {
    await child.end();
    await remote.stop();
    await dropDatabase(databaseUrl);
    await rm(dataDir, { recursive: true, force: true });
  });
  const ready = () =>
    fetch(`${p.url}/identity/readyz`).then(
      answer => answer.status,
      () => 0,
    );
  await until('the process to be ready', ready, status => status === 200, 60_000);
});

/** What nobody may find, and whether it may stand in the tables that are there for addresses. */
const secrets: { what: string; text: string }[] = [];
const addresses = ['demo@example.test', 'demo2@example.test'];

const hide = (what: string, ...texts: (string | null | undefined)[]): void => {
  for (const text of texts) if (text) secrets.push({ what, text });
};

async function mail(): Promise<Delivery> {
  const delivery = await newestMail(p);
  noteMail(delivery);
  return delivery;
}

function noteMail({ to, code, link }: Delivery): void {
  if (!addresses.includes(to)) addresses.push(to);
  hide('a code', code);
  hide('the token of a link', link?.split('/').at(-1));
}

const start = (browser: Browser): Promise<Page> => browser.open(p, authorizeUrl(p, {}, proof()));
const consentTo = async (browser: Browser, page: Page): Promise<void> => {
  const answer = await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope: 'read:profile' }));
  hide('an authorization code', new URL(answer.location!).searchParams.get('code'));
  hide('a cookie', ...browser.cookies);
};

async function byLink(email: string): Promise<void> {
  const browser = new Browser();
  await browser.submit(await start(browser), '/magic-link', { email });
  const { link } = await mail();
  await new Browser().get(link!);
  await consentTo(browser, await browser.follow(p, await browser.submit(await browser.get(link!), link!)));
  await browser.get(link!);
  await browser.open(p, authorizeUrl(p, { more: { prompt: 'consent' } }, proof())); // left open
  hide('a cookie', ...browser.cookies);
}

async function bySignUp(email: string): Promise<void> {
  const browser = new Browser();
  const form = await browser.get(`${(await start(browser)).url}/sign-up`);
  addresses.push(email);
  const asked = await browser.submit(form, '/sign-up', { email, password: NEW_PASSWORD, display_name: 'Ada' });
  const { code } = await mail();
  await browser.submit(asked, '/email-code', { code: code === '000000' ? '000001' : '000000' });
  await consentTo(browser, await browser.follow(p, await browser.submit(asked, '/email-code', { code: code! })));
}

async function byRecovery(email: string): Promise<void> {
  const browser = new Browser();
  const form = await browser.get(`${(await start(browser)).url}/recovery`);
  const asked = await browser.submit(form, '/recovery', { email });
  const { code } = await mail();
  await browser.follow(p, await browser.submit(asked, '/new-password', { code: code!, password: NEW_PASSWORD }));
}

async function changeEmail(): Promise<void> {
  const tokens = await signIn(p, { client: 'demo-app', scope: 'read:account', password: NEW_PASSWORD });
  hide('a token', tokens.access_token, tokens.refresh_token);
  const me = '/identity/v1/users/me';
  const token = tokens.access_token;
  for (const new_email of ['demo2@example.test', 'moved@example.test']) {
    const { body } = await p.rest('POST', `${me}/email-change-request`, { token, body: { new_email } });
    if (new_email === 'demo2@example.test') continue;
    const delivery = await deliver(p, body.challenge_id);
    noteMail(delivery);
    await p.rest('POST', `${me}/email-change-confirm`, { token, body: { challenge_id: body.challenge_id, code: delivery.code } });
  }
  const { link } = await mail();
  const browser = new Browser();
  expect((await browser.submit(await browser.get(link!), link!, { password: PASSWORD })).status).toBe(200);
}

async function byProvider(): Promise<void> {
  const user = { id: 'idp-9', email: 'provider@example.test' };
  const neutral = {
    type: 'signup',
    user,
    token: '70318462',
    token_hash: 'the-token-of-the-provider',
    redirect_to: 'http://localhost:5173/done',
  };
  addresses.push(user.email);
  hide('the code of a provider', neutral.token);
  hide('the token of a provider', neutral.token_hash);
  for (const body of [neutral, { ...neutral, redirect_to: 'https://evil.example/' }, { ...neutral, type: 7 }]) {
    const [id, seconds, text] = [randomUUID(), Math.floor(Date.now() / 1000), JSON.stringify(body)];
    const signature = `v1,${createHmac('sha256', KEY).update(`${id}.${seconds}.${text}`).digest('base64')}`;
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signature,
    };
    await p.rest('POST', '/identity/v1/webhooks/idp/auth-emails', { body: text, headers });
  }
  const { link } = await mail();
  const browser = new Browser();
  expect((await browser.submit(await browser.get(link!), link!)).status).toBe(303);
}

async function invite(): Promise<void> {
  const body = { email: 'invited@example.test', roles: ['analyst'] };
  addresses.push(body.email);
  expect((await p.rest('POST', '/identity/v1/admin/staff/invite', { token: await p.serviceToken(), body })).status).toBe(201);
  const { link } = await mail();
  await new Browser().get(link!);
}

/** A second factor by mail, wrong once. */
async function bySecondFactor(email: string): Promise<void> {
  await p.sql(
    "insert into identity.mfa_method (id, user_id, kind, status, created_at) select gen_random_uuid(), user_id, 'email_otp', 'active', now() from identity.user_email where email_key = $1",
    [email],
  );
  const browser = new Browser();
  const due = await browser.follow(p, await browser.submit(await start(browser), '/login', { identifier: email, password: PASSWORD }));
  const { code } = await mail();
  await browser.submit(due, '/mfa', { method: 'email_otp', code: code === '000000' ? '000001' : '000000' });
  await browser.follow(p, await browser.submit(due, '/mfa', { method: 'email_otp', code: code! }));
  hide('a cookie', ...browser.cookies);
}

/** Rows of every table as text, by table. */
async function everything(): Promise<Map<string, string>> {
  const tables = await p.sql<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const rows = new Map<string, string>();
  for (const { name } of tables)
    rows.set(name, (await p.sql<{ text: string }>(`select coalesce(string_agg(t::text, e'\\n'), '') as text from ${name} t`))[0]!.text);
  return rows;
}

/** As it is, or as bytes would be printed; digits and words only where they stand alone. */
const holds = (text: string, secret: string): boolean =>
  new RegExp(`(?<![\\w-])${secret.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`).test(text) ||
  text.includes(Buffer.from(secret).toString('hex'));

/** Tables that are there to hold an address; those of the embedded storefront stand for what a vendor has, in development. */
const FOR_ADDRESSES = [
  'identity.user_email',
  'identity.staff_member',
  'commerce.embedded_storefront_customer',
  'commerce.embedded_storefront_order',
];

test('no event, delivery, audit row, log line or other table holds an address, link, code, token or password after all of this', async () => {
  await byLink('demo2@example.test');
  await bySignUp('ada@example.test');
  await bySignUp('demo@example.test').catch(() => undefined); // there is one: a notice, no mail
  await byRecovery('demo@example.test');
  await changeEmail();
  await byProvider();
  await invite();
  await bySecondFactor('demo2@example.test');
  hide('a password', PASSWORD, NEW_PASSWORD);
  const kinds = await p.sql<{ type: string }>(
    "select distinct type from events.outbox where (type like 'auth.%' or type like 'comms.%' or type like 'user.%') and source <> 'comms'",
  );
  expect(kinds.map(row => row.type).toSorted((a, b) => a.localeCompare(b))).toEqual([
    'auth.magic_link.requested.v1',
    'auth.two_factor.challenge.v1',
    'comms.message.send_requested.v1',
    'user.created.v1',
  ]);
  expect(log).toContain('is starting');
  const tables = await everything();
  expect(tables.get('identity.audit_log')).toContain('challenge.delivered');
  const found = [...tables, ['the log', log] as const].flatMap(([table, text]) => [
    ...secrets.filter(one => holds(text, one.text)).map(one => `${one.what} in ${table}`),
    ...(FOR_ADDRESSES.includes(table) ? [] : addresses.filter(one => holds(text, one)).map(() => `an address in ${table}`)),
  ]);
  expect([...new Set(found)]).toEqual([]);
  expect(await p.sql('select 1 as one from identity.user_email where user_id = $1', [DEMO])).toHaveLength(1);
}, 120_000);
