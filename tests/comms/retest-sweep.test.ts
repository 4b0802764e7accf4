import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { Clinic, day, PROMPT_FLAG } from '../clinical/clinic.js';
import { DEMO, DEMO2, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { captured, settle, type Captured } from './asking.js';

let p: TestPlatform;
let clinic: Clinic;

/** What is measured of one person in one draw, with a value that nobody would be alarmed by. */
const DRAW: Record<string, [value: number, unit: string]> = {
  ldl_c: [160, 'mg/dL'],
  hdl_c: [50, 'mg/dL'],
  apob: [90, 'mg/dL'],
  hba1c: [5.4, '%'],
  tsh: [2, 'm[IU]/L'],
  ferritin: [80, 'ng/mL'],
  hs_crp: [0.8, 'mg/L'],
  vitamin_d_25oh: [32, 'ng/mL'],
  alt: [24, 'U/L'],
  potassium: [4.2, 'mmol/L'],
  creatinine: [0.9, 'mg/dL'],
  triglycerides: [110, 'mg/dL'],
};
const CODES = Object.keys(DRAW);
/** The clock of all stands here; what was drawn 90 days before is due. */
const NOW = '2027-01-12T09:00:00.000Z';

/** Beginning a plan is told of, too: only prompts to measure again are looked at. */
async function inboxOf(userId: string): Promise<any[]> {
  const { body } = await p.rest('GET', '/comms/v1/inbox', { token: await p.userToken(userId, ['read:inbox']) });
  return body.data.filter(({ kind }: { kind: string }) => kind === 'retest_prompt');
}

async function sentTo(userId: string): Promise<Captured[]> {
  const rows = await p.sql<{ id: string }>("select id from comms.message where template = 'retest_prompt'");
  return (await captured(p, userId)).filter(one => rows.some(({ id }) => id === one.message_id));
}
const namesOf = async (codes: readonly string[]): Promise<string[]> =>
  (
    await p.sql<{ name: string }>('select name from clinical.biomarker where superseded_at is null and code = any($1) order by name', [
      codes,
    ])
  ).map(({ name }) => name);
const namedIn = async (text: string): Promise<string[]> => (await namesOf(CODES)).filter(name => text.includes(name));

const UNHANDLED = `select o.id from events.outbox o where o.type = 'clinical.retest.prompted.v1'
  and not exists (select from comms.inbox i where i.event_id = o.id and i.consumer = 'comms.notify')`;

/** A baseline of each marker 90 days ago, of a protocol that somebody follows. @returns ids of the cycles by code. */
async function baselines(userId: string): Promise<Record<string, string>> {
  const start = { user_id: userId, kind: 'protocol', key: 'lipid_reset' };
  expect((await clinic.rest('POST', '/v1/protocols', start)).status).toBe(201);
  const draw = { collectedAt: day(-90, NOW), drawId: randomUUID() };
  const cycles: Record<string, string> = {};
  for (const [code, [value, unit]] of Object.entries(DRAW)) cycles[code] = (await clinic.cycle(userId, { ...draw, code, value, unit })).id;
  return cycles;
}

/** A sweep by hand, and all that it has told is handled by comms. */
async function swept(): Promise<any> {
  const counted = await clinic.sweep();
  await until(
    'the prompts to be handled',
    () => p.sql(UNHANDLED),
    rows => rows.length === 0,
  );
  return counted;
}

beforeAll(async () => {
  clinic = await Clinic.open(NOW, { services: ['clinical', 'comms', 'events'] });
  p = clinic.p;
  await p.clock('comms', { now: NOW });
  await p.sql("update identity.user_settings set time_zone = 'Europe/Berlin', time_zone_set_at = now()");
  await p.sql('update identity.user_email set verified_at = now()');
  await clinic.flag(PROMPT_FLAG, true);
  const device = { platform: 'web', endpoint: 'https://push.example.test/one', keys: { p256dh: 'B'.repeat(87), auth: 'a'.repeat(22) } };
  const token = await p.userToken(DEMO, ['manage:preferences']);
  expect((await p.rest('POST', '/comms/v1/push-subscriptions', { token, body: device })).status).toBe(201);
}, 300_000);

test('twelve cycles that are due in one sweep are one mail, one push and one item that names all; a second sweep adds nothing', async () => {
  await baselines(DEMO);
  expect(await swept()).toMatchObject({ prompted: 12, failed: 0 });
  await settle(p);
  expect([await sentTo(DEMO), await inboxOf(DEMO)]).toEqual([[], []]);
  await p.clock('comms', { advance: 'PT15M' });
  const sent = await sentTo(DEMO);
  expect(sent.map(({ channel }) => channel).sort()).toEqual(['email', 'push']);
  expect(await namedIn(JSON.stringify(sent))).toEqual([]);
  const [item, ...others] = await inboxOf(DEMO);
  expect([item.kind, item.count, others]).toEqual(['retest_prompt', 12, []]);
  expect(await namedIn(item.body)).toEqual(await namesOf(CODES));
  expect(await swept()).toMatchObject({ prompted: 0 });
  await p.clock('comms', { advance: 'PT15M' });
  expect([(await sentTo(DEMO)).length, (await inboxOf(DEMO)).map(({ count }) => count)]).toEqual([2, [12]]);
}, 120_000);

test('a cycle that a new result closes within the quarter of an hour is not named', async () => {
  const cycles = await baselines(DEMO2);
  expect(await swept()).toMatchObject({ prompted: 12 });
  await clinic.lab(DEMO2, { code: 'potassium', value: 4.3, unit: 'mmol/L', collectedAt: NOW });
  expect((await clinic.read(cycles.potassium!)).status).toBe('retested');
  await p.clock('comms', { advance: 'PT15M' });
  const [item] = await inboxOf(DEMO2);
  expect(item.count).toBe(11);
  expect(await namedIn(item.body)).toEqual(await namesOf(CODES.filter(code => code !== 'potassium')));
  expect((await sentTo(DEMO2)).map(({ channel }) => channel)).toEqual(['email']);
}, 120_000);
