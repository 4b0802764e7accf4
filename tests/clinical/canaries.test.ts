import { beforeAll, expect, test } from 'vitest';
import { DEMO, DEMO2, ADMIN } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, day } from './clinic.js';
import { pdfOf } from './pdf.js';

/** Stand in every column of kind H, and nowhere else: numbers and words that nothing else writes. */
const NUMBERS = {
  ldlBase: 163.713,
  ldlFollow: 118.317,
  potassium: 6.787,
  ferritin: 81.373,
  dose: 5.731,
  target: 97.313,
  corrected: 119.731,
};
const WORDS = ['canaryintake', 'canarynotes', 'canaryaddendum', 'canaryanswer', 'canarydosenote', 'canaryresolution', 'canarytext'];
const CANARIES = [...Object.values(NUMBERS).map(String), ...WORDS];

/** A number counts where it stands alone: the milliseconds of a time (12:31:06.787) end like one. */
const signs = new Map(CANARIES.map(sign => [sign, new RegExp(`(?<!\\d)${sign.replace('.', '\\.')}(?!\\d*[1-9])`)]));
const signsIn = (text: string): string[] => CANARIES.filter(sign => signs.get(sign)!.test(text));

let clinic: Clinic;
const logs: string[] = [];
const SCOPES = [
  'write:clinical',
  'write:protocols',
  'read:protocols',
  'write:check_ins',
  'read:check_ins',
  'write:biomarkers',
  'read:lab_results',
];

/** Every byte of a schema's tables and views as text, with what is sealed as it is stored. */
async function bytesOf(schema: string, name: string): Promise<string> {
  const [row] = await clinic.p.sql<{ text: string | null }>(`select string_agg(t::text, E'\\n') as text from ${schema}."${name}" t`);
  return row!.text ?? '';
}

const relations = () =>
  clinic.p.sql<{ schema: string; name: string; kind: string }>(
    `select n.nspname as schema, c.relname as name, c.relkind as kind from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'v') and n.nspname !~ '^(pg_|information_schema)'`,
  );

/** Where something stands, by relation. */
async function found(
  hitsOf: (text: string) => string[],
  but: (relation: { schema: string; name: string }) => boolean = () => false,
): Promise<string[]> {
  const places: string[] = [];
  for (const relation of await relations()) {
    if (but(relation)) continue;
    const text = await bytesOf(relation.schema, relation.name);
    const hits = hitsOf(text);
    if (hits.length) places.push(`${relation.schema}.${relation.name}: ${hits.join(' ')}`);
  }
  return places;
}

beforeAll(async () => {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = ((chunk: any, ...rest: any[]) => (
    logs.push(String(chunk)),
    (write as any)(chunk, ...rest)
  )) as typeof process.stdout.write;
  clinic = await Clinic.open(day(100), { env: { LOG_LEVEL: 'debug' } });
  const me = await clinic.p.userToken(DEMO, SCOPES);
  const staff = await clinic.p.userToken(ADMIN, [], { permissions: ['admin:clinical'] });
  const own = (method: string, path: string, body?: object) => clinic.rest(method, path, body, me);
  const by = (method: string, path: string, body?: object) => clinic.rest(method, path, body, staff);
  await own('POST', '/v1/protocols/me', { kind: 'protocol', key: 'lipid_reset', started_on: day(100).slice(0, 10) });
  await clinic.cycle(DEMO, { value: NUMBERS.ldlBase, more: { target: { high: NUMBERS.target } } });
  const follow = await clinic.lab(DEMO, { code: 'ldl_c', value: NUMBERS.ldlFollow, collectedAt: day(95) });
  await by('POST', `/v1/biomarkers/${follow.id}/correct`, { value: NUMBERS.corrected, unit: 'mg/dL' });
  await clinic.post(
    DEMO,
    { code: 'potassium', value: NUMBERS.potassium, collectedAt: day(99) },
    { code: 'tsh', textValue: 'canarytext', collectedAt: day(99) },
  );
  const [flag] = (await clinic.rest('GET', `/v1/red-flags?user_id=${DEMO}`)).body.data;
  await by('POST', `/v1/red-flags/${flag.id}/acknowledge`, {});
  await by('POST', `/v1/red-flags/${flag.id}/resolve`, { resolution: 'canaryresolution' });
  const consult = (await own('POST', '/v1/consults/me', { type: 'initial', intake_answers: { why: 'canaryintake' } })).body;
  const scheduled = (
    await by('PATCH', `/v1/consults/${consult.id}`, {
      version: 1,
      status: 'scheduled',
      visit_id: DEMO2,
      clinician_id: ADMIN,
      notes: 'canarynotes',
    })
  ).body;
  const begun = (await by('PATCH', `/v1/consults/${consult.id}`, { version: scheduled.version, status: 'in_progress' })).body;
  expect((await by('POST', `/v1/consults/${consult.id}/sign`, { version: begun.version, outcome: 'approved' })).status).toBe(200);
  expect((await by('POST', `/v1/consults/${consult.id}/addenda`, { text: 'canaryaddendum' })).status).toBe(201);
  const [checkIn] = (await own('GET', '/v1/check-ins/me')).body.data;
  expect(
    (
      await own('POST', `/v1/check-ins/${checkIn.id}/submit`, {
        answers: { energy: 7, sleep: 6, side_effects: 0, comment: 'canaryanswer' },
      })
    ).status,
  ).toBe(200);
  const [dose] = (await own('GET', '/v1/doses/me')).body.data;
  await clinic.clock(dose.scheduled_for);
  expect(
    (await own('POST', `/v1/doses/${dose.id}/log`, { note: 'canarydosenote', quantity: { value: NUMBERS.dose, unit: 'g' } })).status,
  ).toBe(200);
  const report = await own('POST', '/v1/bloodwork/me', {
    file: pdfOf(['Collected: 2026-11-01', `Ferritin ${NUMBERS.ferritin} ng/mL`]).toString('base64'),
  });
  await until(
    'the report',
    () => clinic.p.sql(`select 1 from clinical.lab_report where id = $1 and status = 'parsed'`, [report.body.id]),
    rows => rows.length === 1,
  );
  await clinic.rest('POST', '/v1/health-score/recompute', { user_id: DEMO });
  process.stdout.write = write;
});

test('a health value stands in the two columns that are plain for the service alone, and nowhere else: no event, delivery, audit row, safe view or other schema', async () => {
  const places = await found(signsIn);
  expect(new Set(places.map(one => one.split(':')[0]))).toEqual(new Set(['clinical.observation', 'clinical.retest_cycle']));
  const [plain] = await clinic.p.sql<{ text: string }>(
    `select string_agg((to_jsonb(o) - 'canonical_value')::text, ' ') as text from clinical.observation o`,
  );
  expect(signsIn(plain!.text)).toEqual([]);
  expect(places.join(' ')).not.toMatch(/canary/);
});

test('no health value is in a line of the log', () => {
  const text = logs.join('\n');
  expect(signsIn(text)).toEqual([]);
});

test('erasure leaves nothing of the person in clinical but counts, and the statistics go on', async () => {
  const stats = async () => (await clinic.rest('GET', '/v1/retest-cycles/stats')).body;
  expect((await stats()).counts.retested).toBe(1);
  const answer = await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
  expect(answer.body).toMatchObject({ outcome: 'erased' });
  for (const table of [
    'observation',
    'retest_cycle',
    'red_flag',
    'critical_alert',
    'consult',
    'check_in',
    'dose_log',
    'lab_report',
    'report_row',
    'lab_document',
    'intervention',
  ])
    expect([table, answer.body.records[table] > 0]).toEqual([table, true]);
  expect(await found(signsIn)).toEqual([]);
  const left = await found(
    text => (text.includes(DEMO) ? [DEMO] : []),
    ({ schema, name }) => schema !== 'clinical' || ['audit_log', 'idempotency_key'].includes(name),
  );
  expect(left).toEqual([]);
  const [proof] = await clinic.p.sql(`select details from clinical.audit_log where action = 'user.erased' and target = $1`, [DEMO]);
  expect(Object.values(proof.details.records).every(one => typeof one === 'number')).toBe(true);
  expect(await stats()).toMatchObject({ retest_rate: null, counts: { retested: 0 } });
});
