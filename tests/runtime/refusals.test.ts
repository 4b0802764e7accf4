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
