import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { embeddedParser } from '../../subgraphs/clinical/ports/report-parser/parser.js';
import { SURE, type ReadRow } from '../../subgraphs/clinical/rules/lab-report.js';
import { readLine } from '../../subgraphs/clinical/rules/report-line.js';
import { pdfOf, scanOf } from './pdf.js';
import { ABOVE, type Expected, LAYOUTS, type LayoutLine } from './report-layouts.js';

const shown = ({ name, value, unit, range, comparator, confidence }: ReadRow): Expected => ({
  name,
  value,
  unit,
  low: range?.low ?? null,
  high: range?.high ?? null,
  comparator,
  isSure: (confidence ?? 1) >= SURE,
});

const resultsOf = ([, ...results]: LayoutLine): Expected[] => results.filter(one => one !== ABOVE);

describe('every line of a report that could be a result is a row, and with the other lines the rows are all that was read', () => {
  test.each(Object.entries(LAYOUTS))('%s', async (_what, pages) => {
    const lines = pages.flat().filter(([, first]) => first !== ABOVE);
    const { rows, otherLines } = await embeddedParser.read(pdfOf(...pages.map(page => page.map(([text]) => text))), 'application/pdf');
    expect(rows.map(shown)).toEqual(lines.flatMap(resultsOf));
    expect(otherLines).toBe(lines.filter(line => resultsOf(line).length === 0).length);
  });

  test('a scanned page beside a page of text is recognised', async () => {
    const picture = await sharp(readFileSync(new URL('./fixtures/report.png', import.meta.url)))
      .jpeg({ quality: 90 })
      .toBuffer();
    const { rows } = await embeddedParser.read(scanOf(picture, 1240, 620, 'TSH 2.1 mIU/L'), 'application/pdf');
    expect(rows.map(row => [row.page, row.name, row.value])).toEqual([
      [1, 'TSH', 2.1],
      [2, expect.stringMatching(/LDL/), 110],
      [2, expect.stringMatching(/Triglycerides/), 120],
      [2, expect.stringMatching(/Ferritin/), 80],
      [2, expect.stringMatching(/Potassium/), 4.2],
    ]);
  }, 150_000);

  test.each([
    [
      'HL7 v2',
      'MSH|^~\\&|LAB|A|||20260730||ORU^R01|1|P|2.5\rOBX|1|NM|x^X||1|g|||||F\rOBX|2|ST|y^Y||NEGATIVE||||||F\rOBX|3|NM|z^Z||1|g|||||X',
      2,
      1,
    ],
    [
      'FHIR',
      JSON.stringify({
        resourceType: 'Bundle',
        entry: [
          { component: [{ code: { text: 'systolic' }, valueQuantity: { value: 120 } }, { code: { text: 'diastolic' } }], status: 'final' },
          { code: { text: 'panel' }, hasMember: [{ reference: 'Observation/1' }] },
          { code: { text: 'HIV' }, valueString: 'negative' },
        ].map(one => ({ resource: { resourceType: 'Observation', ...one } })),
      }),
      3,
      1,
    ],
  ] as const)(
    '%s: what has no number is a row too, components are rows, and what is withdrawn or only lists others is counted',
    async (kind, text, rows, other) => {
      const read = await embeddedParser.read(Buffer.from(text), kind === 'FHIR' ? 'application/fhir+json' : 'application/hl7-v2');
      expect([read.rows.length, read.otherLines]).toEqual([rows, other]);
    },
  );

  test('a line of any length is read at once, and what is cut off is for a person', () => {
    expect(readLine({ page: 1, box: null, text: `Ferritin 80 ng/mL${' '.repeat(400)}12` })).toMatchObject([{ value: 80, isSure: false }]);
    for (const part of ['1 ', 'a 1 - ', '((', 'a,', 'normal ', '1.1.', 'Jan 1, ', '<'])
      expect(readLine({ page: 1, box: null, text: part.repeat(100_000) }).length).toBeLessThan(300);
  });

  test('there are 40 layouts at least', () => expect(Object.keys(LAYOUTS).length).toBeGreaterThanOrEqual(40));
});
