import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { request } from 'undici';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { LabReportStatus } from '../../subgraphs/clinical/entities/lab-report.js';
import { embeddedParser } from '../../subgraphs/clinical/ports/report-parser/parser.js';
import { ReaderDied } from '../../subgraphs/clinical/ports/report-parser/thread.js';
import { refusalOfFile, sniff } from '../../subgraphs/clinical/rules/report-file.js';
import { collectedIn, numberIn, REPORT_STATES } from '../../subgraphs/clinical/rules/lab-report.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, T0 } from './clinic.js';
import { pdfOf, scanOf } from './pdf.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(async () => {
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
  await clinic.leave();
});

/** Recognising a picture takes 5 s alone, and much longer beside other tests; the parser itself gives up after a minute. */
const SLOW_MS = 150_000;

const SCOPES = ['read:lab_results', 'write:biomarkers', 'read:biomarkers'];
const member = (scopes = SCOPES, id = DEMO) => clinic.p.userToken(id, scopes);
const HEAD = ['Laboratory report', 'Patient: Demo', 'Collected: 2026-07-30 08:15', 'Report No: R-778', 'Test Result Unit Reference'];
const TWELVE = [
  'LDL Cholesterol 110 mg/dL 0 - 130',
  'HDL Cholesterol 55 mg/dL > 40',
  'Triglycerides 120 mg/dL < 150',
  'Apolipoprotein B 85 mg/dL',
  'Hemoglobin A1c 5.4 % 4.0 - 5.6',
  'Glucose, fasting 88 mg/dL 70 - 99',
  'hs-CRP <0.3 mg/L',
  'Vitamin D, 25-Hydroxy 41 ng/mL 30 - 100',
  'Ferritin 80 ng/mL 30 - 400',
  'TSH 2.1 mIU/L 0.4 - 4.5',
  'ALT (SGPT) 22 U/L < 40',
  'Potassium 4.2 mmol/L 3.5 - 5.1',
];
/** Four results, printed in a common typeface. */
const PICTURE = readFileSync(new URL('./fixtures/report.png', import.meta.url));
/** The same in HEVC. */
const HEIC = readFileSync(new URL('./fixtures/report.heic', import.meta.url));
const NO_UNIT = TWELVE.map(line => (line.startsWith('Ferritin') ? 'Ferritin 80 30 - 400' : line));

const upload = async (bytes: Buffer, path = '/v1/bloodwork/me', more: object = {}, token?: string) =>
  clinic.rest('POST', path, { file: bytes.toString('base64'), ...more }, token ?? (path.endsWith('/me') ? await member() : clinic.token));
const read = async (id: string, token?: string) => clinic.rest('GET', `/v1/bloodwork/${id}`, undefined, token ?? (await member()));
const settled = async (id: string): Promise<any> =>
  (
    await until(
      'the report',
      () => read(id, clinic.token),
      ({ body }) => !['uploaded', 'scanning', 'parsing'].includes(body.status),
      SLOW_MS,
    )
  ).body;
const review = async (id: string, body: object, token?: string) =>
  clinic.rest('POST', `/v1/bloodwork/${id}/review`, body, token ?? (await member()));
const events = (type: string) =>
  clinic.p.sql<{ data: any }>(`select data from events.outbox where type = $1 order by seq desc limit 1`, [type]);
const results = async () => (await clinic.rest('GET', `/v1/biomarkers?user_id=${DEMO}&limit=100`)).body.data;

describe('a PDF of 12 rows', () => {
  test('with one unit missing waits for a person with 11 accepted rows; after the review there are 12 results and one event', async () => {
    const answer = await upload(pdfOf([...HEAD, ...NO_UNIT]));
    expect(answer).toMatchObject({ status: 202, body: { status: 'uploaded', source: 'member', mime_type: 'application/pdf' } });
    expect(answer.headers.location).toContain(`/v1/bloodwork/${answer.body.id}`);
    const report = await settled(answer.body.id);
    expect(report).toMatchObject({
      status: 'needs_review',
      collected_at: '2026-07-30T08:15:00.000Z',
      report_number: 'R-778',
      page_count: 1,
      counts: { rows: 12, accepted: 11, open: 1, duplicate: 0, rejected: 0, lines: 17, other: 5 },
      parser: { name: 'text_layer' },
    });
    const waiting = report.rows.find((row: any) => row.state === 'matched');
    expect(waiting).toMatchObject({ code: 'ferritin', value: 80, unit: null, observation_id: null });
    expect(await results()).toHaveLength(11);
    expect((await events('clinical.biomarker.parsed.v1')).filter(one => one.data.report_id === report.id)).toEqual([]);
    expect(await review(report.id, { rows: [{ position: waiting.position, decision: 'accept' }] })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/rows/0/unit' }] },
    });
    const done = await review(report.id, { rows: [{ position: waiting.position, decision: 'accept', unit: 'ng/mL' }] });
    expect(done).toMatchObject({ status: 200, body: { status: 'parsed', counts: { accepted: 12, open: 0 } } });
    const stored = await results();
    expect(stored).toHaveLength(12);
    expect(new Set(stored.map((row: any) => row.draw_id)).size).toBe(1);
    expect(stored.find((row: any) => row.code === 'ferritin')).toMatchObject({
      verification: 'verified',
      report_id: report.id,
      source: 'lab',
    });
    expect(stored.find((row: any) => row.code === 'hs_crp')).toMatchObject({ comparator: 'lt', verification: 'unverified' });
    const [event] = await events('clinical.biomarker.parsed.v1');
    expect(event!.data).toMatchObject({ report_id: report.id, count: 12, unparsed_count: 0, collected_at: '2026-07-30T08:15:00.000Z' });
    expect(event!.data.codes).toHaveLength(12);
    expect((await review(report.id, { rows: [] })).status).toBe(409);
  });

  test('that is complete is parsed without a person; uploaded again it is the report that is there', async () => {
    const file = pdfOf([...HEAD, ...TWELVE]);
    const first = await upload(file);
    expect(await settled(first.body.id)).toMatchObject({ status: 'parsed', counts: { accepted: 12 } });
    expect((await upload(file)).body).toMatchObject({ id: first.body.id, status: 'parsed' });
    expect(await results()).toHaveLength(12);
    const told = await clinic.p.sql(
      `select data from events.outbox where type = 'clinical.bloodwork.uploaded.v1' and data->>'report_id' = $1`,
      [first.body.id],
    );
    expect(told).toEqual([
      { data: { report_id: first.body.id, document_id: first.body.document_id, uploaded_by: 'member', page_count: null } },
    ]);
  });

  test('loses no line that could be a result: each is a row, accepted or waiting, and with the other lines they are all that was read', async () => {
    const lines = [
      'LDL-CHOLESTEROL 131 H mg/dL (calc) <100',
      'Ferritin 80',
      'Potassium 4.2 mmol/L 3.5 - 5.1',
      'Unobtainium 12',
      'HIV Ag/Ab NON-REACTIVE',
      'TSH 2.1 mU/L something that nobody understands',
    ];
    const report = await settled((await upload(pdfOf([...HEAD, ...lines, 'Page 1 of 1']))).body.id);
    expect(report.rows.map((row: any) => [row.code, row.value, row.state])).toEqual([
      ['ldl_c', 131, 'accepted'],
      ['ferritin', 80, 'matched'],
      ['potassium', 4.2, 'accepted'],
      [null, 12, 'unmatched'],
      [null, null, 'unmatched'],
      ['tsh', 2.1, 'matched'],
    ]);
    expect(report).toMatchObject({ status: 'needs_review', counts: { rows: 6, accepted: 2, open: 4, lines: 12, other: 6 } });
  });

  test('with a plain "Glucose" waits for a person, unless the report says that the member had fasted', async () => {
    const glucose = ['Glucose 88 mg/dL 70 - 99', 'Ferritin 80 ng/mL'];
    const silent = await settled((await upload(pdfOf([...HEAD, ...glucose]))).body.id);
    expect(silent).toMatchObject({ status: 'needs_review', rows: [{ code: 'glucose_fasting', state: 'matched' }, { state: 'accepted' }] });
    const fasted = await settled((await upload(pdfOf([...HEAD, 'Fasting: Yes', ...glucose]))).body.id);
    expect(fasted.rows).toMatchObject([{ code: 'glucose_fasting', state: 'accepted' }, { state: 'duplicate' }]);
  });

  test('without the time of the draw accepts nothing until a person says it', async () => {
    const report = await settled((await upload(pdfOf([HEAD[0]!, ...TWELVE.slice(0, 2)]))).body.id);
    expect(report).toMatchObject({ status: 'needs_review', collected_at: null, counts: { accepted: 0, open: 2 } });
    const rows = [0, 1].map(position => ({ position, decision: 'accept' }));
    expect(await review(report.id, { rows })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/collected_at' }] } });
    expect(await review(report.id, { rows, collected_at: T0 })).toMatchObject({ status: 200, body: { status: 'parsed' } });
    expect((await results()).map((row: any) => row.collected_at)).toEqual([T0, T0]);
  });

  test('with an unknown name, an implausible value and a repetition: each waits or is marked, and a unit is proposed, not guessed', async () => {
    await clinic.post(DEMO, { code: 'potassium', value: 4.2, unit: 'mmol/L', collectedAt: '2026-07-30T06:00:00.000Z' });
    const lines = ['Unobtainium 5 mg/dL', 'LDL Cholesterol 3.5 ug/dL', 'Creatinine 88 mg/dL', 'Potassium 4.2 mmol/L'];
    const report = await settled((await upload(pdfOf([...HEAD, ...lines]))).body.id);
    expect(report.rows.map((row: any) => [row.code, row.state, row.proposed_unit])).toEqual([
      [null, 'unmatched', null],
      ['ldl_c', 'implausible', 'mg/dL'],
      ['creatinine', 'implausible', 'umol/L'],
      ['potassium', 'duplicate', null],
    ]);
    expect(await results()).toHaveLength(1);
    const rows = [
      { position: 0, decision: 'reject' },
      { position: 1, decision: 'reject' },
      { position: 2, decision: 'accept', unit: 'umol/L' },
    ];
    expect((await review(report.id, { rows })).body).toMatchObject({
      status: 'parsed',
      counts: { accepted: 1, rejected: 2, duplicate: 1 },
    });
    expect((await events('clinical.biomarker.parsed.v1'))[0]!.data).toMatchObject({ count: 2, unparsed_count: 2 });
  });

  test('with active content is refused unread; one that is broken fails, and uploaded again is tried again', async () => {
    const active = pdfOf([`${HEAD[2]} /JavaScript (x)`, ...TWELVE]);
    expect(await settled((await upload(active)).body.id)).toMatchObject({ status: 'rejected', failure_code: 'active_content', rows: [] });
    const broken = Buffer.from('%PDF-1.4\nnothing of a document');
    const { body } = await upload(broken);
    expect(await settled(body.id)).toMatchObject({ status: 'failed', failure_code: 'unreadable' });
    expect((await upload(broken)).body).toMatchObject({ id: body.id, status: 'parsing' });
    expect(await settled(body.id)).toMatchObject({ status: 'failed' });
    const long = pdfOf(...Array.from({ length: 31 }, () => ['LDL Cholesterol 110 mg/dL']));
    expect(await settled((await upload(long)).body.id)).toMatchObject({ status: 'failed', failure_code: 'too_many_pages' });
  });
});

describe('other files', () => {
  const fhir = (resources: object[]) =>
    Buffer.from(JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry: resources.map(resource => ({ resource })) }));

  test('HL7 v2 and FHIR bundles skip the extraction', async () => {
    const hl7 = [
      'MSH|^~\\&|LAB|A|||20260730||ORU^R01|1|P|2.5',
      'OBR|1||R-9^LAB|LIPID|||20260730081500',
      'OBX|1|NM|13457-7^LDL^LN||110|mg/dL|0-130||||F',
      'OBX|2|NM|3016-3^TSH^LN||<0.01|m[IU]/L|||||F',
    ].join('\r');
    expect(await settled((await upload(Buffer.from(hl7))).body.id)).toMatchObject({
      status: 'parsed',
      collected_at: '2026-07-30T08:15:00.000Z',
      report_number: 'R-9',
      rows: [
        { code: 'ldl_c', value: 110 },
        { code: 'tsh', comparator: 'lt' },
      ],
    });
    const observation = {
      resourceType: 'Observation',
      code: { coding: [{ system: 'http://loinc.org', code: '1884-6' }] },
      effectiveDateTime: '2026-07-29T08:00:00Z',
      valueQuantity: { value: 85, code: 'mg/dL' },
    };
    expect(await settled((await upload(fhir([observation, { resourceType: 'Patient' }]))).body.id)).toMatchObject({
      status: 'parsed',
      rows: [{ code: 'apob', value: 85 }],
    });
    expect(await results()).toHaveLength(3);
  });

  const oru = (...segments: string[]) => Buffer.from(['MSH|^~\\&|LAB|A|||20260730||ORU^R01|1|P|2.5', ...segments].join('\r'));
  const measured = (code: string, value: number, unit: string, more: object = {}) => ({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code }] },
    valueQuantity: { value, code: unit },
    ...more,
  });
  const FIRST = '2026-07-28T06:15:00.000Z';
  const SECOND = '2026-07-30T08:15:00.000Z';
  const TWO_DRAWS: [string, () => Buffer][] = [
    [
      'an HL7 v2 message with two OBR',
      () =>
        oru(
          'OBR|1||R-9^LAB|LIPID|||20260728081500+0200',
          'OBX|1|NM|13457-7^LDL^LN||110|mg/dL|0-130||||F',
          'OBR|2||R-10^LAB|TSH|||20260730081500',
          'OBX|1|NM|3016-3^TSH^LN||2.1|m[IU]/L|||||F',
          'OBX|2|NM|1742-6^ALT^LN||22|U/L|||||F',
        ),
    ],
    [
      'a FHIR bundle with two effective times',
      () =>
        fhir([
          measured('13457-7', 110, 'mg/dL', { effectiveDateTime: FIRST }),
          measured('3016-3', 2.1, 'm[IU]/L', { effectiveDateTime: SECOND }),
          measured('1742-6', 22, 'U/L', { effectivePeriod: { start: '2026-07-30T10:15:00+02:00' } }),
        ]),
    ],
  ];

  test.each(TWO_DRAWS)('the draw time decides everything: %s is stored as two draws', async (_what, file) => {
    const report = await settled((await upload(file())).body.id);
    expect(report).toMatchObject({ status: 'parsed', collected_at: FIRST, counts: { accepted: 3 } });
    const stored = new Map<string, any>((await results()).map((row: any) => [row.code, row]));
    expect(['ldl_c', 'tsh', 'alt'].map(code => stored.get(code).collected_at)).toEqual([FIRST, SECOND, SECOND]);
    expect(stored.get('tsh').draw_id).toBe(stored.get('alt').draw_id);
    expect(stored.get('tsh').draw_id).not.toBe(stored.get('ldl_c').draw_id);
  });

  test('a result whose draw the bundle does not say waits for a person, who says it', async () => {
    const bundle = fhir([measured('13457-7', 110, 'mg/dL', { effectiveDateTime: FIRST }), measured('3016-3', 2.1, 'm[IU]/L')]);
    const report = await settled((await upload(bundle)).body.id);
    expect(report.rows).toMatchObject([{ state: 'accepted' }, { code: 'tsh', state: 'matched' }]);
    const said = { rows: [{ position: 1, decision: 'accept' }], collected_at: SECOND };
    expect(await review(report.id, said)).toMatchObject({ status: 200, body: { status: 'parsed', collected_at: FIRST } });
    expect((await results()).map((row: any) => [row.code, row.collected_at])).toEqual([
      ['tsh', SECOND],
      ['ldl_c', FIRST],
    ]);
  });

  const STATUSES: [string, () => Buffer][] = [
    [
      'OBX-11 of HL7 v2',
      () =>
        oru(
          'OBR|1||R-9^LAB|LIPID|||20260730081500',
          'OBX|1|NM|13457-7^LDL^LN||110|mg/dL|||||P',
          'OBX|2|NM|3016-3^TSH^LN||2.1|m[IU]/L|||||F',
          'OBX|3|NM|1742-6^ALT^LN||22|U/L|||||C',
          'OBX|4|NM|2823-3^K^LN||4.2|mmol/L|||||D',
          'OBX|5|NM|2276-4^Ferritin^LN||80|ng/mL|||||X',
        ),
    ],
    [
      'Observation.status of FHIR',
      () =>
        fhir(
          [
            measured('13457-7', 110, 'mg/dL', { status: 'preliminary' }),
            measured('3016-3', 2.1, 'm[IU]/L'),
            measured('1742-6', 22, 'U/L', { status: 'corrected' }),
            measured('2823-3', 4.2, 'mmol/L', { status: 'entered-in-error' }),
            measured('2276-4', 80, 'ng/mL', { status: 'cancelled' }),
          ].map(one => ({ ...one, effectiveDateTime: SECOND })),
        ),
    ],
  ];

  test.each(STATUSES)('%s: what is preliminary or corrected is stored as such, what is withdrawn is no row', async (_what, file) => {
    const report = await settled((await upload(file())).body.id);
    expect(report).toMatchObject({ status: 'parsed', counts: { rows: 3, accepted: 3 } });
    const found = Object.fromEntries((await results()).map((row: any) => [row.code, row.status]));
    expect(found).toEqual({ ldl_c: 'preliminary', tsh: 'final', alt: 'corrected' });
  });

  test('import takes a DiagnosticReport: its number, laboratory and time; one entered in error takes its results with it', async () => {
    const listed = measured('3016-3', 2.1, 'm[IU]/L', { id: 'tsh' });
    const wrong = measured('1742-6', 22, 'U/L', { id: 'alt', effectiveDateTime: SECOND });
    const about = (status: string, id: string, more: object = {}) => ({
      resourceType: 'DiagnosticReport',
      status,
      code: { text: 'Panel' },
      result: [{ reference: `Observation/${id}` }],
      ...more,
    });
    const main = about('final', 'tsh', { identifier: [{ value: 'R-77' }], performer: [{ display: 'Lab A' }], effectiveDateTime: FIRST });
    const report = await settled((await upload(fhir([about('entered-in-error', 'alt'), main, listed, wrong]))).body.id);
    expect(report).toMatchObject({ status: 'parsed', report_number: 'R-77', performer: 'lab_a', collected_at: FIRST, counts: { rows: 1 } });
    expect(await results()).toMatchObject([{ code: 'tsh', collected_at: FIRST, performer: 'lab_a' }]);
  });

  test('a parser that was ended or died is tried again; after 3 attempts the report has failed', async () => {
    const read = vi.spyOn(embeddedParser, 'read').mockRejectedValue(new ReaderDied('too_slow'));
    const { body } = await upload(fhir([measured('3016-3', 2.1, 'm[IU]/L', { effectiveDateTime: FIRST })]));
    const state = async () =>
      (
        await clinic.p.sql<{ attempts: number; rests: boolean; now: Date }>(
          `select attempts, coalesce(due_at <= now + interval '60 s', true) as rests, now from clinical.lab_report, clinical.test_clock where id = $1`,
          [body.id],
        )
      )[0]!;
    for (const attempt of [1, 2, 3]) {
      const { now } = await until('the attempt', state, row => row.attempts === attempt && row.rests);
      if (attempt < 3) await clinic.clock(new Date(now.getTime() + 61_000).toISOString());
    }
    expect(await settled(body.id)).toMatchObject({ status: 'failed', failure_code: 'too_slow' });
    expect(read).toHaveBeenCalledTimes(3);
    read.mockRestore();
    expect((await upload(fhir([measured('3016-3', 2.1, 'm[IU]/L', { effectiveDateTime: FIRST })]))).body.status).toBe('parsing');
    expect(await settled(body.id)).toMatchObject({ status: 'parsed' });
  });

  test('a bundle that is no JSON has failed', async () => {
    const { body } = await upload(Buffer.from('{"resourceType":"Bundle","entry":[}'));
    expect(await settled(body.id)).toMatchObject({ status: 'failed', failure_code: 'unreadable' });
  });

  /** A person accepts what waits. */
  const accepted = async (report: any) => {
    const waiting = report.rows.filter((row: any) => row.state === 'matched');
    if (waiting.length === 0) return report;
    return (await review(report.id, { rows: waiting.map(({ position }: any) => ({ position, decision: 'accept' })) })).body;
  };

  test.each([
    ['a picture', async () => PICTURE],
    ['a HEIC picture', async () => HEIC],
    ['a PDF without a text layer', async () => scanOf(await sharp(PICTURE).jpeg({ quality: 90 }).toBuffer(), 1240, 620)],
  ])(
    '%s is recognised; a row becomes a result only with a confidence of 0.90 and plausibility, or by a person',
    async (_what, file) => {
      const report = await settled((await upload(await file())).body.id);
      expect(report).toMatchObject({
        parser: { name: 'ocr' },
        page_count: 1,
        collected_at: '2026-07-30T08:15:00.000Z',
        report_number: 'R-778',
      });
      expect(report.rows.map((row: any) => [row.code, row.value, row.unit])).toEqual([
        ['ldl_c', 110, 'mg/dL'],
        ['triglycerides', 120, 'mg/dL'],
        ['ferritin', 80, 'ng/mL'],
        ['potassium', 4.2, 'mmol/L'],
      ]);
      for (const row of report.rows) expect(row.state).toBe(row.confidence >= 0.9 ? 'accepted' : 'matched');
      const before = await results();
      expect(before).toHaveLength(report.counts.accepted);
      expect(await accepted(report)).toMatchObject({ status: 'parsed', counts: { accepted: 4 } });
      expect(await results()).toHaveLength(4);
    },
    SLOW_MS,
  );

  test(
    'a picture without text has no rows: a person enters them',
    async () => {
      const empty = await sharp({ create: { width: 200, height: 200, channels: 3, background: 'white' } })
        .png()
        .toBuffer();
      const report = await settled((await upload(empty)).body.id);
      expect(report).toMatchObject({ status: 'needs_review', rows: [] });
      expect(await review(report.id, { added: [{ code: 'unobtainium', value: 1, unit: 'mg/dL' }], collected_at: T0 })).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/added/0/code' }] },
      });
      const done = await review(report.id, { added: [{ code: 'ldl_c', value: 110, unit: 'mg/dL' }], collected_at: T0 });
      expect(done.body).toMatchObject({ status: 'parsed', counts: { accepted: 1 } });
      expect(await results()).toMatchObject([{ code: 'ldl_c', verification: 'verified' }]);
    },
    SLOW_MS,
  );

  /** The HEIC picture said to be 30,000 pixels wide and high, which nothing here decodes. */
  const huge = (): Buffer => {
    const bytes = Buffer.from(HEIC);
    const at = bytes.indexOf('ispe') + 8; // after the name of the box, version and flags
    for (const offset of [0, 4]) bytes.writeUInt32BE(30_000, at + offset);
    return bytes;
  };

  test.each<[string, Buffer]>([
    ['PNG', Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(40, 1)])],
    ['HEIC', Buffer.concat([HEIC.subarray(0, 600), Buffer.alloc(40, 1)])],
    ['HEIC of too many pixels', huge()],
  ])(
    'a picture that cannot be decoded has failed: %s',
    async (_what, broken) => {
      expect(await settled((await upload(broken)).body.id)).toMatchObject({ status: 'failed', failure_code: 'unreadable' });
    },
    SLOW_MS,
  );

  const MIB = 1024 * 1024;
  /** What is taken for a picture, and read as none. */
  const sized = (bytes: number): Buffer =>
    Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(bytes - 8)]);
  /** Sends a form of one file, its bytes put together here: a FormData's streams have stood still in a process in which much ran before. */
  const sent = async (bytes: Buffer, name: string): Promise<{ status: number; body: { id: string } }> => {
    const disposition = `content-disposition: form-data; name="file"; filename="${name}"`;
    const body = Buffer.concat([Buffer.from(`--edge\r\n${disposition}\r\n\r\n`), bytes, Buffer.from('\r\n--edge--\r\n')]);
    const headers = { authorization: `Bearer ${await member()}`, 'content-type': 'multipart/form-data; boundary=edge' };
    const answer = await request(`${clinic.p.url}/clinical/v1/bloodwork/me`, { method: 'POST', body, headers });
    return { status: answer.statusCode, body: (await answer.body.json()) as { id: string } };
  };

  test(
    'of at most 20 MiB are taken; larger ones are a 413, as a form and as JSON',
    async () => {
      expect((await upload(sized(20 * MIB))).status).toBe(202);
      for (const bytes of [20 * MIB + 1, 20 * MIB + 1024, 23 * MIB]) expect((await upload(sized(bytes))).status).toBe(413);
      expect((await sent(sized(20 * MIB + 1), 'report.png')).status).toBe(413);
    },
    SLOW_MS,
  );

  test("of 15 MiB pass the subgraph's own route, by which a gateway in another process sends them", async () => {
    const query = 'mutation ($input: UploadLabReportInput!) { uploadLabReport(input: $input) { status } }';
    const input = { file: sized(15 * MIB).toString('base64') };
    const answer = await clinic.rest('POST', '/graphql', { query, variables: { input } }, await member());
    expect(answer).toMatchObject({ status: 200, body: { data: { uploadLabReport: { status: 'UPLOADED' } } } });
  });

  test('of other kinds are a 415, and a form with a file is as good as JSON', async () => {
    expect((await upload(Buffer.from('GIF89a nothing'))).status).toBe(415);
    for (const file of ['JVBERi0', 'JVBE Ri0=', 'JVBERi0_', '%PDF-1.4'])
      expect(await clinic.rest('POST', '/v1/bloodwork/me', { file }, await member())).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/file' }] },
      });
    expect((await upload(Buffer.from('{"resourceType":"Patient"}'))).status).toBe(415);
    const { status, body } = await sent(pdfOf([...HEAD, ...TWELVE.slice(0, 1)]), 'report.pdf');
    expect(status).toBe(202);
    expect(await settled(body.id)).toMatchObject({ status: 'parsed', counts: { accepted: 1 } });
  });
});

describe('who may', () => {
  test('another member finds nothing of it, staff reviews it, and a member without read:biomarkers sees no value', async () => {
    const { body } = await upload(pdfOf([...HEAD, ...NO_UNIT]));
    const report = await settled(body.id);
    const other = await member(SCOPES, DEMO2);
    expect((await read(report.id, other)).status).toBe(404);
    expect((await review(report.id, { rows: [] }, other)).status).toBe(404);
    expect((await clinic.rest('GET', `/v1/bloodwork/${report.id}/file`, undefined, other)).status).toBe(404);
    expect((await read(report.id, await member(['read:biomarkers']))).status).toBe(403);
    const blind = (await read(report.id, await member(['read:lab_results']))).body;
    expect(blind.rows[0]).toMatchObject({ code: 'ldl_c', value: null, unit: null, raw_text: null, range: null });
    const staff = await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:results'] });
    const row = report.rows.find((one: any) => one.state === 'matched');
    expect((await review(report.id, { rows: [{ position: row.position, decision: 'accept', unit: 'ng/mL' }] }, staff)).status).toBe(200);
    expect((await upload(pdfOf(['x']), '/v1/bloodwork', {})).status).toBe(400);
    const sent = await upload(pdfOf(['y']), '/v1/bloodwork', { user_id: clinic.stranger() }, staff);
    expect(sent).toMatchObject({ status: 202, body: { source: 'staff' } });
  });

  test('the file is had by a link of the last minute, which is audited, and by no other', async () => {
    const file = pdfOf([...HEAD, ...TWELVE.slice(0, 1)]);
    const report = await settled((await upload(file)).body.id);
    const { status, headers, body } = await clinic.rest('GET', `/v1/bloodwork/${report.id}/file`, undefined, await member());
    expect([status, headers['cache-control'], body]).toEqual([302, 'no-store', '']);
    const url = String(headers.location);
    const got = await request(url);
    expect([got.statusCode, got.headers['content-type'], got.headers['content-disposition']]).toEqual([
      200,
      'application/pdf',
      'attachment; filename="report"',
    ]);
    expect(Buffer.from(await got.body.arrayBuffer()).equals(file)).toBe(true);
    const audit = await clinic.p.sql(`select details from clinical.audit_log where action = 'lab_reports.file_read' and target = $1`, [
      DEMO,
    ]);
    expect(audit).toEqual([{ details: { report: report.id } }]);
    expect((await request(`${url}x`)).statusCode).toBe(404);
    const [{ now }] = await clinic.p.sql('select now from clinical.test_clock');
    await clinic.clock(new Date(now.getTime() + 60_000).toISOString());
    expect((await request(url)).statusCode).toBe(404);
    expect((await clinic.rest('GET', `/v1/bloodwork/${randomUUID()}/file`, undefined, await member())).status).toBe(404);
  });

  test('nothing of a file or row is in an event, audit row or log, and the bytes are sealed', async () => {
    const { body } = await upload(pdfOf([...HEAD, 'LDL Cholesterol 118.37 mg/dL']));
    await settled(body.id);
    const [{ text }] = await clinic.p.sql(
      `select (select string_agg(data::text, ' ') from events.outbox) || (select string_agg(details::text, ' ') from clinical.audit_log) as text`,
    );
    expect(text).not.toContain('118.37');
    const [document] = await clinic.p.sql('select bytes_sealed from clinical.lab_document where id = $1', [body.document_id]);
    expect(document.bytes_sealed.includes('118.37')).toBe(false);
  });
});

describe('rules', () => {
  test.each(Object.values(LabReportStatus))('the table of reports says what leads out of %s', status => {
    const expected = {
      uploaded: { scan: 'scanning' },
      scanning: { parse: 'parsing', reject: 'rejected' },
      parsing: { accept: 'parsed', need_review: 'needs_review', fail: 'failed' },
      needs_review: { review: 'parsed' },
      parsed: {},
      failed: { retry: 'parsing' },
      rejected: {},
    };
    expect(REPORT_STATES[status]).toEqual(expected[status]);
  });

  test('reads the draw and the number', () => {
    const lines = ['Report No: R-778', 'Collected: 2026-07-30 08:15'].map(text => ({ page: 1, box: null, text }));
    expect([collectedIn(lines)?.toISOString(), numberIn(lines), collectedIn([])]).toEqual(['2026-07-30T08:15:00.000Z', 'R-778', null]);
  });

  test('knows a file by its content alone', () => {
    expect(sniff(Buffer.from('%PDF-1.7'))).toBe('application/pdf');
    expect(sniff(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toBe('image/jpeg');
    expect(sniff(Buffer.from('\0\0\0\x18ftypheic', 'latin1'))).toBe('image/heic');
    expect(sniff(Buffer.from('MSH|^~\\&|'))).toBe('application/hl7-v2');
    expect(sniff(Buffer.from('<html>%PDF'))).toBeNull();
    expect(sniff(Buffer.from('\uFEFF { "id": "a\\\\", "meta": { "resourceType": "x" }, "resourceType" : "Bundle" }'))).toBe(
      'application/fhir+json',
    );
    expect(sniff(Buffer.from('{"entry":[{"resourceType":"Bundle"}],"id":"\\"resourceType\\":\\"Bundle\\""}'))).toBeNull();
    expect(refusalOfFile(Buffer.from('%PDF /Launch /F'), 'application/pdf')).toBe('active_content');
    expect(refusalOfFile(Buffer.from('EICAR-STANDARD-ANTIVIRUS-TEST-FILE'), 'application/hl7-v2')).toBe('malware');
    expect(refusalOfFile(pdfOf(['x']), 'application/pdf')).toBeNull();
  });
});
