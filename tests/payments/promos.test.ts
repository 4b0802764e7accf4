import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let token: string;
let member: string;

beforeAll(async () => {
  p = await platform({ services: ['payments'] });
  token = await p.serviceToken();
  member = await p.userToken(DEMO, ['manage:subscriptions']);
  await p.clock('payments', { now: '2026-11-21T12:00:00.000Z' });
});

const promo = async (body: object): Promise<any> => {
  const base = { brand_id: BRAND, kind: 'percent', percent_bps: 2000, duration: 'once' };
  return p.rest('POST', '/payments/v1/admin/promos', { token, body: { ...base, ...body } });
};
const made = async (body: object): Promise<any> => {
  const answer = await promo(body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const patch = (id: string, body: object) => p.rest('PATCH', `/payments/v1/admin/promos/${id}`, { token, body });
const listed = async (code: string): Promise<any> =>
  (await p.rest('GET', `/payments/v1/admin/promos?code=${code}`, { token })).body.data[0];

const line = (amount: number, more: object = {}) => ({
  subject_kind: 'product_variant',
  subject_id: newId(),
  quantity: 1,
  subtotal: { amount, currency: 'USD' },
  ...more,
});
const validate = async (body: object, as = token): Promise<any> => {
  const answer = await p.rest('POST', '/payments/v1/promos/validate', { token: as, body: { brand_id: BRAND, ...body } });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};

const HOLD = 'id code orderId status discount { amount currency } allocations { line amount { amount } }';
const RESERVE = `mutation($input: ReservePromoInput!) { reservePromo(input: $input) { ${HOLD} } }`;
const COMMIT = `mutation($id: ID!) { commitPromoRedemption(orderId: $id) { ${HOLD} } }`;
const RELEASE = `mutation($id: ID!) { releasePromoRedemption(orderId: $id) { ${HOLD} } }`;
const graphqlLine = (amount: number) => ({
  subjectKind: 'PRODUCT_VARIANT',
  subjectId: newId(),
  quantity: 1,
  subtotal: { amount, currency: 'USD' },
});
const reserve = (code: string, orderId: string = newId(), more: object = {}) =>
  p.graphql(
    RESERVE,
    { input: { code, orderId, userId: DEMO, brandId: BRAND, lines: [graphqlLine(3000), graphqlLine(1000)], ...more } },
    { token },
  );
const commit = (id: string) => p.graphql(COMMIT, { id }, { token });
const release = (id: string) => p.graphql(RELEASE, { id }, { token });

describe('POST /v1/admin/promos', () => {
  test('makes a promo that is good at once, its code in capitals', async () => {
    expect(await made({ code: 'spring-10', name: 'Spring' })).toMatchObject({
      code: 'SPRING-10',
      status: 'active',
      percent_bps: 2000,
      per_user_limit: 1,
      redeemed_count: 0,
      reserved_count: 0,
      applies_to: { price_ids: [], subject_kinds: [] },
      brand: { id: BRAND },
    });
  });

  test("without a brand it is of the platform's default one", async () => {
    expect(await made({ code: 'NO-BRAND', brand_id: undefined })).toMatchObject({ brand: { id: BRAND } });
  });

  test('a code that the brand has is a 409, whatever its case', async () => {
    await made({ code: 'TAKEN' });
    expect(await promo({ code: 'taken' })).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'code_taken' } });
  });

  test.each<[string, object, string[]]>([
    ['without how much', { percent_bps: undefined }, ['/percent_bps']],
    ['with what is of another kind', { trial_days: 7, amount_off: { amount: 5, currency: 'USD' } }, ['/amount_off', '/trial_days']],
    ['of more than everything', { percent_bps: 10_001 }, ['/percent_bps']],
    ['that repeats without saying how often', { duration: 'repeating' }, ['/duration_periods']],
    ['that ends before it starts', { starts_at: '2027-01-02T00:00:00Z', ends_at: '2027-01-01T00:00:00Z' }, ['/ends_at']],
    ['that has ended', { ends_at: '2026-11-21T12:00:00.000Z' }, ['/ends_at']],
    ['for a price that does not exist', { applies_to: { price_ids: [newId()] } }, ['/applies_to/price_ids/0']],
    ['with a code of two characters', { code: 'AB' }, ['/code']],
    [
      'with an amount as a float',
      { kind: 'amount', percent_bps: undefined, amount_off: { amount: 1.5, currency: 'USD' } },
      ['/amount_off/amount'],
    ],
    [
      'in two currencies',
      { kind: 'amount', percent_bps: undefined, amount_off: { amount: 5, currency: 'USD' }, min_subtotal: { amount: 9, currency: 'EUR' } },
      ['/min_subtotal/currency'],
    ],
  ])('%s is a 400', async (_case, body, pointers) => {
    const answer = await promo({ code: 'WRONG', ...body });
    expect([answer.status, answer.body.errors?.map((one: any) => one.pointer)]).toEqual([400, pointers]);
    expect(await listed('WRONG')).toBeUndefined();
  });

  test('a user token is refused', async () => {
    const answer = await p.rest('POST', '/payments/v1/admin/promos', { token: member, body: { code: 'MINE', kind: 'percent' } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

describe('PATCH /v1/admin/promos/{id}', () => {
  test('disables a promo for good', async () => {
    const { id } = await made({ code: 'DISABLE' });
    expect(await patch(id, { status: 'disabled' })).toMatchObject({ status: 200, body: { status: 'disabled', version: 2 } });
    expect(await patch(id, { max_redemptions: 5 })).toMatchObject({ status: 409 });
    expect(await validate({ code: 'DISABLE', lines: [line(100)] })).toMatchObject({ valid: false, reason: 'unknown' });
  });

  test('cannot make it active, nor set the limit below what is used', async () => {
    const { id } = await made({ code: 'LIMITS', per_user_limit: 9 });
    await reserve('LIMITS');
    await reserve('LIMITS');
    expect(await patch(id, { status: 'active', max_redemptions: 1 })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/status' }, { pointer: '/max_redemptions' }] },
    });
  });

  test('a raised limit makes an exhausted promo active again', async () => {
    const { id } = await made({ code: 'RAISE', max_redemptions: 1 });
    await reserve('RAISE');
    expect(await listed('RAISE')).toMatchObject({ status: 'exhausted' });
    expect(await patch(id, { max_redemptions: 2 })).toMatchObject({ body: { status: 'active' } });
  });
});

describe('POST /v1/promos/validate', () => {
  test('answers amounts and allocations of the lines it is for, and reserves nothing', async () => {
    await made({ code: 'SPREAD', applies_to: { subject_kinds: ['product_variant'] } });
    const other = line(500, { subject_kind: 'service' });
    const lines = [line(1001), other, line(2000)];
    expect(await validate({ code: ' spread ', lines })).toEqual({
      valid: true,
      code: 'SPREAD',
      reason: null,
      promo: { kind: 'percent', percent_bps: 2000, amount_off: null, trial_days: null, duration: 'once', duration_periods: null },
      amounts: {
        subtotal: { amount: 3501, currency: 'USD' },
        discount: { amount: 600, currency: 'USD' },
        tax: { amount: 0, currency: 'USD' },
        shipping: { amount: 0, currency: 'USD' },
        cash_applied: { amount: 0, currency: 'USD' },
        credit_applied: { amount: 0, currency: 'USD' },
        total: { amount: 2901, currency: 'USD' },
      },
      allocations: [
        { line: 0, subject_id: lines[0]!.subject_id, amount: { amount: 200, currency: 'USD' } },
        { line: 2, subject_id: lines[2]!.subject_id, amount: { amount: 400, currency: 'USD' } },
      ],
    });
    expect(await listed('SPREAD')).toMatchObject({ reserved_count: 0 });
  });

  test('prices are multiplied by their quantity, past 2^53 in the product', async () => {
    const price = await p.rest('POST', '/payments/v1/admin/prices', {
      token,
      body: {
        key: 'promo-price',
        subject_kind: 'service',
        subject_id: newId(),
        brand_id: BRAND,
        unit_amount: { amount: 99_999_999, currency: 'USD' },
      },
    });
    await made({ code: 'PRICED', percent_bps: 3333 });
    const answer = await validate({ code: 'PRICED', items: [{ price_id: price.body.id, quantity: 100 }] }, member);
    expect(answer.amounts).toMatchObject({ subtotal: { amount: 9_999_999_900 }, discount: { amount: 3_332_999_967 } });
  });

  test.each<[string, object, object, string]>([
    ['NO-SUCH', {}, {}, 'unknown'],
    ['LATER', { starts_at: '2026-12-01T00:00:00Z' }, {}, 'unknown'],
    ['OTHER-BRAND', {}, { brand_id: newId() }, 'unknown'],
    ['FOR-OTHERS', { applies_to: { subject_kinds: ['protocol'] } }, {}, 'not_applicable'],
    ['EURO', { kind: 'amount', percent_bps: undefined, amount_off: { amount: 5, currency: 'EUR' } }, {}, 'not_applicable'],
    ['MINIMUM', { min_subtotal: { amount: 5000, currency: 'USD' } }, {}, 'min_subtotal'],
  ])('%s is a 200 with its reason', async (code, terms, asked, reason) => {
    if (code !== 'NO-SUCH') await made({ code, ...terms });
    const answer = await validate({ code, lines: [line(4999)], ...asked });
    expect(answer).toEqual({ valid: false, code, reason, promo: null, amounts: null, allocations: [] });
  });

  test('a code that somebody has used is refused to that user alone', async () => {
    await made({ code: 'ONCE-EACH' });
    const order = newId();
    await reserve('ONCE-EACH', order);
    await commit(order);
    expect(await validate({ code: 'ONCE-EACH', lines: [line(100)], user_id: DEMO })).toMatchObject({ reason: 'already_used' });
    expect(await validate({ code: 'ONCE-EACH', lines: [line(100)], user_id: DEMO2 })).toMatchObject({ valid: true });
  });

  test('exactly one form is asked for, and lines are for services', async () => {
    const two = { code: 'SPREAD', items: [{ price_id: newId(), quantity: 1 }], lines: [line(1)] };
    expect(await p.rest('POST', '/payments/v1/promos/validate', { token, body: two })).toMatchObject({ status: 400 });
    const lines = { code: 'SPREAD', lines: [line(1)] };
    expect(await p.rest('POST', '/payments/v1/promos/validate', { token: member, body: lines })).toMatchObject({ status: 403 });
    const others = { code: 'SPREAD', user_id: DEMO2, items: [{ price_id: newId(), quantity: 1 }] };
    expect(await p.rest('POST', '/payments/v1/promos/validate', { token: member, body: others })).toMatchObject({ status: 404 });
  });

  test('the alias is the same operation and shares its limit of 30 a minute and user', async () => {
    const eager = await p.userToken(DEMO2, ['read:profile']);
    const body = { code: 'SPREAD', items: [{ price_id: newId(), quantity: 1 }] };
    const ways = ['promos', 'promo'];
    const answers = [];
    for (let tries = 0; tries < 32; tries++)
      answers.push(await p.rest('POST', `/payments/v1/${ways[tries % 2]}/validate`, { token: eager, body }));
    expect(answers.slice(0, 30).every(one => one.status === 400)).toBe(true);
    expect(answers.slice(30).map(one => one.status)).toEqual([429, 429]);
    expect(answers.at(-1)!.headers['retry-after']).toBe('60');
    await p.clock('payments', { advance: 'PT1M' });
    expect(await p.rest('POST', '/payments/v1/promo/validate', { token: eager, body })).toMatchObject({ status: 400 });
  });
});

describe('what an order holds', () => {
  test('is made once for an order, and allocated', async () => {
    await made({ code: 'HELD', max_redemptions: 3 });
    const order = newId();
    const first = await reserve('HELD', order);
    expect(first.data.reservePromo).toMatchObject({
      orderId: order,
      code: 'HELD',
      status: 'RESERVED',
      discount: { amount: 800, currency: 'USD' },
      allocations: [
        { line: 0, amount: { amount: 600 } },
        { line: 1, amount: { amount: 200 } },
      ],
    });
    expect((await reserve('HELD', order)).data).toEqual(first.data);
    expect(await listed('HELD')).toMatchObject({ reserved_count: 1, redeemed_count: 0 });
  });

  test('repeated at once, it is made once', async () => {
    await made({ code: 'AT-ONCE', per_user_limit: 20 });
    const order = newId();
    const answers = await Promise.all(Array.from({ length: 8 }, () => reserve('AT-ONCE', order)));
    expect(new Set(answers.map(one => one.data?.reservePromo.id)).size).toBe(1);
    expect(await listed('AT-ONCE')).toMatchObject({ reserved_count: 1 });
  });

  test('is redeemed by a commit and given back by a release, each idempotent', async () => {
    await made({ code: 'ENDS', per_user_limit: 2, max_redemptions: 2 });
    const [paid, dropped] = [newId(), newId()];
    await reserve('ENDS', paid);
    await reserve('ENDS', dropped);
    expect(await listed('ENDS')).toMatchObject({ status: 'exhausted' });
    for (const _ of [1, 2]) expect((await commit(paid)).data.commitPromoRedemption.status).toBe('REDEEMED');
    for (const _ of [1, 2]) expect((await release(dropped)).data.releasePromoRedemption.status).toBe('RELEASED');
    expect(await listed('ENDS')).toMatchObject({ status: 'active', reserved_count: 0, redeemed_count: 1 });
    expect((await release(paid)).errors[0]!.extensions.code).toBe('CONFLICT');
    expect((await commit(newId())).errors[0]!.extensions.code).toBe('NOT_FOUND');
  });

  test('lasts: half an hour does not end it', async () => {
    await made({ code: 'LASTS' });
    const order = newId();
    await reserve('LASTS', order);
    await p.clock('payments', { advance: 'P9D' });
    expect((await commit(order)).data.commitPromoRedemption.status).toBe('REDEEMED');
  });

  test('a commit after the release is counted, over the limits too', async () => {
    await made({ code: 'LATE', max_redemptions: 1 });
    const [late, other] = [newId(), newId()];
    await reserve('LATE', late);
    await release(late);
    await reserve('LATE', other, { userId: DEMO2 });
    expect((await commit(late)).data.commitPromoRedemption.status).toBe('REDEEMED');
    expect((await commit(other)).data.commitPromoRedemption.status).toBe('REDEEMED');
    expect(await listed('LATE')).toMatchObject({ redeemed_count: 2, reserved_count: 0, status: 'exhausted' });
    expect((await reserve('LATE')).errors[0]!.extensions).toMatchObject({ code: 'INVALID_REQUEST', reason: 'EXHAUSTED' });
  });

  test('of a limit of one, eight orders at once hold one', async () => {
    await made({ code: 'RACE', max_redemptions: 1, per_user_limit: 9 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => reserve('RACE')));
    expect(answers.filter(one => one.data?.reservePromo)).toHaveLength(1);
    for (const one of answers.filter(({ errors }) => errors.length > 0))
      expect(one.errors[0]!.extensions).toMatchObject({ reason: 'EXHAUSTED', errors: [{ pointer: '/input/code' }] });
    expect(await listed('RACE')).toMatchObject({ reserved_count: 1 });
  });

  test('a user who tries eight orders at once holds one', async () => {
    await made({ code: 'GREEDY' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => reserve('GREEDY')));
    expect(answers.filter(one => one.data?.reservePromo)).toHaveLength(1);
    expect(answers.flatMap(one => one.errors).map(one => one.extensions.reason)).toEqual(Array(7).fill('ALREADY_USED'));
    expect(await listed('GREEDY')).toMatchObject({ reserved_count: 1 });
  });

  test('is for services alone', async () => {
    const answer = await p.graphql(COMMIT, { id: newId() }, { token: member });
    expect(answer.errors[0]!.extensions.code).toBe('FORBIDDEN');
  });
});

test('a promo starts and ends on time, in its list, too', async () => {
  const now = new Date(
    (await p.sql(`select to_char(now at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now from payments.test_clock`))[0].now,
  );
  const at = (hours: number) => new Date(now.getTime() + hours * 3_600_000).toISOString();
  await made({ code: 'TIMED', starts_at: at(1), ends_at: at(2) });
  expect(await listed('TIMED')).toMatchObject({ status: 'scheduled' });
  await p.clock('payments', { advance: 'PT1H' });
  expect(await listed('TIMED')).toMatchObject({ status: 'active' });
  expect(await validate({ code: 'TIMED', lines: [line(10)] })).toMatchObject({ valid: true });
  await p.clock('payments', { advance: 'PT1H' });
  expect(await validate({ code: 'TIMED', lines: [line(10)] })).toMatchObject({ reason: 'expired' });
  const { body } = await p.rest('GET', '/payments/v1/admin/promos?status=expired', { token });
  expect(body.data).toMatchObject([{ code: 'TIMED', status: 'expired' }]);
});
