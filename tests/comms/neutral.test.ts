import fs from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventDefinition } from '../../events/define.js';
import { isUuid, newId } from '../../runtime/data/ids.js';
import type { Federation } from '../../runtime/federation/federation.js';
import { consumers } from '../../subgraphs/comms/consumers/requests.js';
import { fileTemplates, type FileTemplate } from '../../subgraphs/comms/ports/template-files.js';
import { topicOf } from '../../subgraphs/comms/rules/topics.js';
import { makeStaff } from '../identity/staff.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { captured, emitAs, settle, type Captured } from './asking.js';
import { absent, answered, displayOf, fieldsOf, type Answers, type Tree } from './owners.js';

/**
 * What may leave in the open. A canary, a word of its own, stands in every text of every event that comms handles, in every text param of every
 * template, and in every field that an owner is asked for. Then all that has left is searched for them.
 */
let p: TestPlatform;
/** Everything that the process has logged, at the finest level. */
let log = '';
const sent: Captured[] = [];
/** The inbox and the messages, as the own app and an app of others read them. */
const read = { own: [] as Shown[], others: [] as Shown[] };
interface Shown {
  topic: string;
}
const MAIL = 'demo@example.test';
const PHONE = '+15550100042';
/** Far enough that nothing which is told of is over. */
const FUTURE = '2027-09-01T10:00:00.000Z';
const TIME = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/;

/** What each canary stands in. */
const origins = new Map<string, string>();
function canary(origin: string): string {
  const word = `kanari${origins.size}x`;
  origins.set(word, origin);
  return word;
}
const foundIn = (text: string): string[] => [...new Set([...text.matchAll(/kanari\d+x/g)].map(([word]) => origins.get(word)!))].sort();

/** Ids and codes that owners know, so that what is told of still holds. */
const known = { flags: [] as string[], doses: [] as string[], codes: [] as string[] };

function note({ flag_id: flag, reminder_id: dose, code }: Record<string, unknown>): void {
  if (typeof flag === 'string') known.flags.push(flag);
  if (typeof dose === 'string') known.doses.push(dose);
  if (typeof code === 'string') known.codes.push(code);
}

/** A canary wherever the event's schema lets a text stand, the far instant wherever a time stands, and ids of its own. */
function planted({ name, schema }: EventDefinition, example: Tree): Tree {
  const data = structuredClone(example);
  const plant = (tree: Tree, path: string): void => {
    for (const [key, value] of Object.entries(tree)) {
      if (value !== null && typeof value === 'object') plant(value as Tree, `${path}${key}.`);
      if (typeof value !== 'string') continue;
      tree[key] = isUuid(value) ? newId() : TIME.test(value) ? FUTURE : canary(`${name} ${path}${key}`);
      if (!schema.safeParse(data).success) tree[key] = value;
    }
  };
  plant(data, '');
  note(data);
  return data;
}

/** A canary in each text that whoever asks for a message may give; what an owner is asked for comes from there. */
function paramsOf({ key, example, display }: FileTemplate): Record<string, string | number | boolean> {
  const given = Object.entries(example).filter(([name]) => !(name in display));
  const params = Object.fromEntries(
    given.map(([name, value]) => {
      if (typeof value !== 'string' || name === 'currency') return [name, value];
      return [name, TIME.test(value) ? FUTURE : canary(`${key} ${name}`)];
    }),
  );
  note(params);
  return params;
}

/** Documents for which the contract of an absent owner has no answer. */
const refused: string[] = [];
const answers: Answers = { textOf: path => canary(`display ${path}`), instant: FUTURE, known, refused };

/** What owners that are not built know beside display data, by the name of the document. */
const KNOWN: Readonly<Record<string, () => Tree>> = {
  CommsVendorReceipt: () => ({ vendorWebhookReceipt: { body: { From: '+15550100099', Body: `HELP ${canary('inbound text')}` } } }),
  CommsBroadcastAudience: () => ({ communityBroadcastAudience: { userIds: [DEMO], endCursor: null, hasNextPage: false } }),
};

/** Owners that are built and do not run here. */
const OWNERS: Readonly<Record<string, () => object>> = {
  CommsGift: () => ({
    giftDelivery: { email: 'gift@example.test', name: canary('gift name'), code: canary('gift code'), message: canary('gift message') },
  }),
  CommsLiveAudience: () => ({ liveSessionAudience: { userIds: [DEMO], endCursor: null, hasNextPage: false } }),
};

function answerOwners(): void {
  const federation = p.host('comms').federation as { run: Federation['run'] };
  const real = federation.run.bind(federation);
  federation.run = async (document, variables = {}, options) => {
    const template = [...fileTemplates().values()].find(one => one.document === document);
    if (template) return (await displayOf(template, variables, answers)) as never;
    const name = /^\s*query (\w+)/.exec(document.source)![1]!;
    if (KNOWN[name]) return (await absent(document, variables, name, answers, KNOWN[name]())) as never;
    if (name.startsWith('CommsMarkers')) return answered(fieldsOf(document.document), 'marker', answers.textOf) as never;
    return (OWNERS[name]?.() ?? real(document, variables, options)) as never;
  };
}

const { write } = fs;
/** The log goes here in place of stderr. */
function readLog(): void {
  fs.write = ((fd: number, chunk: string | Buffer, ...rest: unknown[]) => {
    if (fd !== 2) return (write as (...given: unknown[]) => void)(fd, chunk, ...rest);
    log += chunk.toString();
    (rest.at(-1) as (error: null, bytes: number) => void)(null, Buffer.byteLength(chunk));
  }) as typeof fs.write;
}
afterAll(() => {
  fs.write = write;
});

const handled: EventDefinition[] = consumers.flatMap(({ on }) =>
  (on as readonly { definition?: EventDefinition }[]).map(({ definition }) => definition!),
);
const asked = [...fileTemplates().values()].filter(one => !('challenge_id' in one.example)); // links and codes are identity's to give

/** Emits an example of each kind of an event. @returns the ids. */
async function emitAll(definition: EventDefinition): Promise<string[]> {
  const about = definition.name === 'user.erasure_completed.v1' ? DEMO2 : DEMO;
  const ids: string[] = [];
  for (const example of definition.examples)
    ids.push(await emitAs(p, definition.owner, definition.name, planted(definition, example), definition.user === 'none' ? null : about));
  return ids;
}

async function ask(template: FileTemplate): Promise<string[]> {
  const { key, audience, channels } = template;
  const to =
    key === 'gift_received'
      ? ['gift', newId()]
      : { USER: ['user', null], STAFF: ['staff_role', 'clinician'], CLIENT_OWNER: ['client_owner', 'demo-partner-app'] }[audience];
  const [recipient_type, recipient_id] = to as [string, string | null];
  const request = { request_id: newId(), template: key, channels, recipient_type, recipient_id, params: paramsOf(template) };
  const rest = { dedupe_key: `canary:${key}`, send_after: null, category: 'transactional' };
  return [await emitAs(p, 'workflow', 'comms.message.send_requested.v1', { ...request, ...rest }, recipient_type === 'user' ? DEMO : null)];
}

const processed = (ids: readonly string[]): Promise<unknown> =>
  until(
    'all events to be handled',
    () => p.sql<{ id: string }>('select distinct event_id as id from comms.inbox where event_id = any($1::uuid[])', [ids]),
    rows => rows.length === new Set(ids).size,
  );

/** All that was captured since; it is kept for a day. */
async function collect(): Promise<void> {
  await settle(p);
  const seen = new Set(sent.map(one => `${one.message_id} ${one.to}`));
  sent.push(...(await captured(p, null)).filter(one => !seen.has(`${one.message_id} ${one.to}`)));
}

/** A few a day, because more pushes are not sent. */
async function inDays<One>(all: readonly One[], emit: (one: One) => Promise<string[]>): Promise<void> {
  const A_DAY = 4;
  for (let from = 0; from < all.length; from += A_DAY) {
    const ids: string[] = [];
    for (const one of all.slice(from, from + A_DAY)) ids.push(...(await emit(one)));
    await processed(ids);
    await collect();
    await p.clock('comms', { advance: 'PT20M' }); // prompts to measure again are gathered for a quarter of an hour
    await collect();
    await p.clock('comms', { advance: 'PT23H40M' });
  }
}

/** All pages of a list. */
async function all(path: string, token: string): Promise<Shown[]> {
  const rows: Shown[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await p.rest('GET', `/comms${path}?limit=100${cursor && `&cursor=${cursor}`}`, { token });
    expect(status).toBe(200);
    rows.push(...body.data);
    cursor = body.next_cursor as string | null;
  }
  return rows;
}

beforeAll(async () => {
  readLog();
  p = await platform({ services: ['comms', 'events'], env: { LOG_LEVEL: 'trace' } });
  await p.sql('update identity."user" set phone = $2, phone_verified_at = now() where id = $1', [DEMO, PHONE]);
  await p.sql("update identity.user_settings set marketing_consent = true, time_zone = 'Europe/Berlin', time_zone_set_at = now()");
  await p.sql("update identity.oauth_client set contacts = '{contact@example.test}' where id = 'demo-partner-app'");
  await makeStaff(p, DEMO2, 'clinician');
  const token = await p.userToken(DEMO, ['manage:preferences']);
  const device = { platform: 'web', endpoint: 'https://push.example.test/one', keys: { p256dh: 'B'.repeat(87), auth: 'a'.repeat(22) } };
  expect((await p.rest('POST', '/comms/v1/push-subscriptions', { token, body: device })).status).toBe(201);
  await p.clock('comms', { now: '2027-01-12T12:00:00.000Z' });
  answerOwners();
  await inDays(
    handled.filter(({ name }) => name !== 'comms.message.send_requested.v1'),
    emitAll,
  );
  await inDays(asked, ask);
  read.own = await all('/v1/inbox', await p.userToken(DEMO, ['read:inbox'])); // items are kept for 180 days
  const others = await p.userToken(DEMO, ['read:inbox'], { clientId: 'demo-partner-app' });
  read.others = [...(await all('/v1/inbox', others)), ...(await all('/v1/messages/me', others))];
  await p.clock('comms', { now: '2027-08-29T12:00:00.000Z' }); // charges are told of three days ahead
  await collect();
  await p.clock('comms', { now: '2027-08-31T12:00:00.000Z' }); // reminders of the day before
  await collect();
  await p.clock('comms', { now: FUTURE });
  await collect();
  p.host('comms').log.warn({ canary: canary('the log itself') }, 'the last line');
  await until(
    'the log to be written',
    async () => log.includes('the last line'),
    written => written,
  );
}, 600_000);

const topics = async (): Promise<Map<string, { topic: string; template: string }>> => {
  const rows = await p.sql<{ id: string; topic: string; template: string }>('select id, topic, template from comms.message');
  return new Map(rows.map(row => [row.id, row]));
};
const isClinical = (topic: string): boolean => topicOf(topic)!.category === 'clinical';

/** What others than the reader see of a message: envelope, preview, lock screen, addresses of links. */
function openPart({ channel, to, content }: Captured): string {
  const { subject, headers, from, push, attachments, html, text } = content;
  const previews = [...(html ?? '').matchAll(/<div[^>]*display:\s*none[^>]*>([^<]*)/g)].map(([, words]) => words);
  const links = [...`${html ?? ''} ${text}`.matchAll(/https?:\/\/[^\s"'<>]+/g)].map(([link]) => link);
  return JSON.stringify([
    subject,
    headers,
    from,
    to,
    push,
    attachments.map(one => one.filename),
    previews,
    links,
    channel === 'sms' && text,
  ]);
}

test('what owners that do not stand yet are asked for is what their contracts promise', () => {
  expect(refused).toEqual([]);
});

test('every template was sent by each of its channels, with what it shows filled in', async () => {
  const rows = await p.sql<{ key: string }>(
    "select distinct template || ' ' || channel as key from comms.message where status in ('sent', 'delivered')",
  );
  const wanted = asked.flatMap(({ key, channels }) => channels.map(channel => `${key} ${channel}`));
  expect(wanted.filter(key => !rows.some(row => row.key === key))).toEqual([]);
  const named = foundIn(JSON.stringify(read.own));
  for (const shown of ['marker.biomarker.name', 'live_registered.liveRegistration.session.title', 'mention.communityPost.noticeText'])
    expect(named).toContain(`display ${shown}`);
  expect(foundIn(sent.map(({ content }) => content.text).join())).toContain('display live_registered.liveRegistration.session.title');
});

test('of health topics nothing leaves but that there is a message: no word of an event, a request or an owner', async () => {
  const of = await topics();
  const clinical = sent.filter(one => isClinical(of.get(one.message_id)!.topic));
  expect(new Set(clinical.map(({ channel }) => channel))).toEqual(new Set(['email', 'push', 'sms']));
  expect(
    clinical.flatMap(one => foundIn(JSON.stringify(one)).map(origin => `${of.get(one.message_id)!.template} ${one.channel}: ${origin}`)),
  ).toEqual([]);
  const lockScreens = clinical.map(({ channel, content }) =>
    channel === 'push' ? content.push!.body : channel === 'sms' ? content.text : content.subject,
  );
  expect([...new Set(lockScreens)].sort()).toEqual(['Please open the app now.', 'You have a new health reminder.']);
  expect(clinical.filter(({ content }) => content.headers['List-Id'] && !content.headers['List-Id'].startsWith('<account.'))).toEqual([]);
});

/** What a subject may name: it says which order a mail is about, and not what is in it. */
const PLAIN = ['order.placed.v1 order_number', 'order_placed order_number'];

test('of the other topics envelope, preview, lock screen and links name order numbers and the like, and no name that somebody wrote', async () => {
  const open = new Set(sent.flatMap(one => foundIn(openPart(one))));
  expect([...open].sort()).toEqual(PLAIN);
});

test('the events that comms emits hold none of it, and no address', async () => {
  const rows = await p.sql<{ row: string }>("select t::text as row from events.outbox t where source = 'comms'");
  expect(rows.length).toBeGreaterThan(100);
  const text = rows.map(({ row }) => row).join('\n');
  expect([foundIn(text), text.includes(MAIL), text.includes(PHONE)]).toEqual([[], false, false]);
});

test('nothing that owners answered is kept in the clear, and no address', async () => {
  const tables = await p.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'comms' and table_type = 'BASE TABLE'",
  );
  const hexed = (text: string): string =>
    text.replace(/\\\\?x([0-9a-f]{2})+/g, hex => Buffer.from(hex.replace(/^\\+x/, ''), 'hex').toString('latin1'));
  for (const { name } of tables) {
    const rows = await p.sql<{ row: string }>(`select t::text as row from comms."${name}" t`);
    const text = rows.map(({ row }) => row + hexed(row)).join('\n');
    expect([name, foundIn(text).filter(origin => /^(display|gift|inbound)/.test(origin) || origin.endsWith('prompted.v1 code'))]).toEqual([
      name,
      [],
    ]);
    expect([name, text.includes(MAIL), text.includes(PHONE)]).toEqual([name, false, false]);
  }
});

test('an app of others reads no word of health in the inbox and in its messages', () => {
  const clinical = read.others.filter(one => isClinical(one.topic));
  expect(clinical.length).toBeGreaterThan(50);
  expect(foundIn(JSON.stringify(clinical))).toEqual([]);
});

test('the log holds none of it, and no address', () => {
  expect([foundIn(log), log.includes(MAIL), log.includes(PHONE)]).toEqual([['the log itself'], false, false]);
});
