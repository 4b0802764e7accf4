import { beforeAll, expect, test } from 'vitest';
import { sharedPlatform, type SharedPlatform } from '../support/platform.js';

let p: SharedPlatform;
let token: string;
beforeAll(async () => {
  p = await sharedPlatform();
  token = await p.serviceToken();
});

const PUT = 'mutation($input: PutFeatureVectorInput!) { putFeatureVector(input: $input) { id } }';

test('a variable that its scalar refuses is an invalid request, not a failure', async () => {
  const input = { entityType: 'user', entityId: '0190b3a0-0000-7000-8000-0000000000a1', featureSet: 'activity', values: {}, asOf: 'soon' };
  const { errors } = await p.graphql(PUT, { input }, { token });
  expect(errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
});

test('a text with U+0000 is an invalid request in GraphQL, too', async () => {
  const document = `mutation($name: String!) { createBrand(input: { slug: "nul", name: $name, legalName: "x", defaultLocale: "en", locales: ["en"], defaultCurrency: "USD",
    currencies: ["USD"], countries: ["US"], timeZone: "UTC", supportEmail: "a@example.test", taxInclusivePrices: false }) { id } }`;
  const { errors } = await p.graphql(document, { name: 'a\u0000b' }, { token });
  expect(errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
});

test('half a surrogate pair inside JSON is an invalid request in GraphQL, too', async () => {
  const document = 'mutation($input: PostLedgerTransactionInput!) { postLedgerTransaction(input: $input) { id } }';
  const side = (accountCode: string, direction: string) => ({ accountCode, direction, amount: { amount: 100, currency: 'USD' } });
  const input = {
    source: { service: 'payments', type: 'surrogate', id: 'half' },
    description: 'half',
    entries: [side('equity:fx:usd', 'DEBIT'), side('clearing:processor:usd', 'CREDIT')],
    metadata: { note: '\ud800' },
  };
  const { errors } = await p.graphql(document, { input }, { token });
  expect(errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
  expect(await p.sql("select 1 from accounting.ledger_transaction where source_id = 'half'")).toEqual([]);
});

test.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-12:00', '9999-12-31T23:59:59Z'])(
  'an instant of which no date can be made or counted on, %s, is an invalid request in both APIs',
  async at => {
    const { errors } = await p.graphql('query($at: DateTime) { jobs(from: $at) { nodes { id } } }', { at }, { token });
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
    const literal = await p.graphql(`{ jobs(from: "${at}") { nodes { id } } }`, {}, { token });
    expect(literal.errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
    const answer = await p.rest('GET', `/jobs/v1/jobs?from=${encodeURIComponent(at)}`, { token });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/from' }] } });
  },
);
