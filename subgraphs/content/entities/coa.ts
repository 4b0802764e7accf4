import { defineCollection, f } from './definition.js';

const VERDICTS = ['PASS', 'FAIL', 'INFO'] as const;
const TESTS = [
  'PURITY',
  'IDENTITY',
  'NET_CONTENT',
  'ENDOTOXIN',
  'STERILITY',
  'WATER',
  'HEAVY_METALS',
  'RESIDUAL_SOLVENT',
  'APPEARANCE',
  'OTHER',
] as const;

/** A certificate of analysis: what a laboratory found in one batch, as data. Source: content 2.2. */
export const coas = defineCollection({
  collection: 'COAS',
  type: 'Coa',
  one: 'coa',
  list: 'coas',
  description: 'A certificate of analysis: what a laboratory found in one batch. Once published it never changes.',
  title: 'productName',
  names: ['batchNumber', 'reportNumber', 'lotNumber', 'variantSku'],
  searchable: true,
  uniques: { report_exists: ['lab.name', 'reportNumber'] },
  sorts: ['TESTED_ON'],
  filters: {
    lab: { field: 'lab.name', op: 'eq' },
    sku: { field: 'variantSku', op: 'eq' },
    testedFrom: { field: 'testedOn', op: 'from', as: 'date' },
    testedTo: { field: 'testedOn', op: 'to', as: 'date' },
  },
  fields: {
    productName: f.text({ required: true, max: 200, search: 'A' }),
    product: f.entity('Product', { filter: true }),
    variantSku: f.text({ max: 64, filter: true, search: 'A' }),
    batchNumber: f.text({ required: true, max: 64, filter: true, search: 'A', immutable: true }),
    lotNumber: f.text({ max: 64, filter: true, search: 'A' }),
    reportNumber: f.text({ required: true, max: 64, search: 'A', filter: true }),
    lab: f.group(
      'CoaLab',
      { name: f.text({ required: true, max: 200, search: 'B' }), accreditation: f.text({ max: 200 }), url: f.url() },
      { required: true, immutable: true },
    ),
    sampleReceivedOn: f.date(),
    testedOn: f.date({ required: true, filter: true }),
    issuedOn: f.date({ required: true }),
    expiresOn: f.date({ filter: true }),
    results: f.group(
      'CoaResult',
      {
        test: f.enum('CoaTest', TESTS, { required: true }),
        method: f.text({ required: true, max: 200 }),
        specification: f.text({ max: 200 }),
        resultText: f.text({ required: true, max: 200 }),
        resultValue: f.float(),
        unit: f.text({ max: 64, description: 'UCUM.' }),
        verdict: f.enum('CoaResultVerdict', VERDICTS, { required: true }),
      },
      { required: true, many: true, minItems: 1, maxItems: 50, immutable: true },
    ),
    purityPercent: f.float({ min: 0, max: 100, description: 'Equals the result of the purity test; two decimals.' }),
    identityConfirmed: f.boolean({ derived: true }),
    verdict: f.enum('CoaVerdict', ['PASS', 'FAIL'], { derived: true, filter: true, description: 'FAIL where any result is.' }),
    file: f.ref('MEDIA', { required: true, immutable: true }),
    fileSha256: f.text({ derived: true, max: 64 }),
    verificationUrl: f.url(),
    verificationCode: f.text({
      derived: true,
      max: 14,
      unique: 'code_exists',
      description: 'Twelve characters, printed with the product.',
    }),
    supersedes: f.ref('COAS', { filter: true }),
    supersededBy: f.ref('COAS', { derived: true }),
  },
});
