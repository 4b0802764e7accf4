import { randomUUID } from 'node:crypto';
import {
  buildASTSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  parse,
  type GraphQLInputType,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schemaOf, type Slug } from '../../events/slugs.js';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { planTables, type Plan } from '../../rest-adapter/plan.js';
import { toCamel, toSnake } from '../../runtime/schema/wire-names.js';
import { idOf } from '../../subgraphs/payments/ports/sandbox/store.js';
import { tables } from '../house/composition.js';
import { requestFor } from '../house/requests.js';
import { BRAND, DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { purchaseJourney } from './purchases.js';
import { walletJourney } from './wallet.js';

/**
 * Everything that the services of money take, with what an attacker would write in its place: nothing of it breaks them, and no amount that is
 * none is taken. Source: must-not-happen 22, 29 and 31.
 */
const MONEY: readonly Slug[] = ['payments', 'cash', 'accounting', 'membership', 'affiliates'];
const schema = buildASTSchema(parse(await readSupergraph()), { assumeValid: true });
const rows = planTables(schema, tables).filter(plan => MONEY.includes(plan.slug));

let p: TestPlatform;

beforeAll(async () => {
  p = await platform({ services: [...MONEY, 'jobs', 'entitlements'] });
  await walletJourney(p);
  await purchaseJourney(p);
});

/** A key of a body, and the type of its value. */
interface Leaf {
  path: readonly (string | number)[];
  type: string;
}

function leavesOf(type: GraphQLInputType, path: Leaf['path'], depth = 0): Leaf[] {
  const plain = getNullableType(type);
  if (isListType(plain)) return leavesOf(plain.ofType, [...path, 0], depth);
  const named = getNamedType(plain);
  if (isInputObjectType(named))
    return depth > 4 ? [] : Object.values(named.getFields()).flatMap(one => leavesOf(one.type, [...path, toSnake(one.name)], depth + 1));
  return [{ path, type: isEnumType(named) ? 'enum' : named.name }];
}

/** What is not a number of minor units, nor a count. */
const NUMBERS = [-1, 1.5, 2 ** 53, 2 ** 63, 1e308, -0, '5', true, { amount: 1 }, [1], null];
const TEXTS = ['\u0000', '\ud800', 'x'.repeat(20_000), "'; drop table payments.payment; --", '', 1, {}, []];
const HOSTILE: Readonly<Record<string, readonly unknown[]>> = {
  Int: NUMBERS,
  SafeInt: NUMBERS,
  Float: NUMBERS,
  ID: ['\u0000', '../../etc/passwd', '00000000-0000-0000-0000-000000000000', "x' or '1'='1", 'X'.repeat(5_000), 1, {}, []],
  DateTime: [
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '+275760-09-13T00:00:00.000Z',
    '-271821-04-20T00:00:00.000Z',
    'yesterday',
    0,
    '1970-01-01T00:00:00Z',
  ],
  Date: ['0000-01-01', '9999-12-31', '2026-02-30', 0],
  CurrencyCode: ['XXX', 'usd', 'USDX', 'BTC', '', 1],
  JSON: [
    JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    { '\u0000': '\u0000' },
    Array.from({ length: 60 }).reduce<unknown>(inner => ({ inner }), 1),
    { n: 1e308 },
    { n: '\ud800' },
  ],
  Boolean: ['true', 1],
  enum: ['NONE_OF_THEM', '__proto__', 'constructor', 1, ''],
  URL: ['javascript:alert(1)', 'http://169.254.169.254/', 'https://user:pw@example.com/', '//evil.example', '\u0000'],
  EmailAddress: ['a@b', 'a@b.c\r\nBcc: x@y.z', '\u0000@example.com', 'x'.repeat(400) + '@example.com'],
};

function put(body: any, [key, ...rest]: Leaf['path'], value: unknown): any {
  const copy: any = Array.isArray(body) ? [...body] : { ...(typeof body === 'object' ? body : {}) };
  const target: any = typeof key === 'number' && !Array.isArray(body) ? [] : copy;
  target[key!] = rest.length === 0 ? value : put(target[key!] ?? (typeof rest[0] === 'number' ? [] : {}), rest, value);
  return target;
}

const leavesIn = (plan: Plan): Leaf[] =>
  plan.variables.flatMap(({ type, source }) => {
    if (source.from === 'body') return leavesOf(type, [source.name]);
    if (source.from !== 'input' || !source.body) return [];
    const given = [
      ...Object.keys(source.path),
      ...Object.keys(source.query),
      ...[...Object.keys(source.constant), ...source.omit].map(toSnake),
    ];
    return leavesOf(type, []).filter(({ path }) => !given.includes(String(path[0])));
  });

const TEXTS_OF_ADDRESSES = ['\u0000', '%', 'x'.repeat(3_000), '-1', '9007199254740993', "'", '0000-01-01T00:00:00Z', '__proto__', ' '];

interface Parameter {
  from: 'path' | 'query';
  name: string;
}

const withParameter = ({ slug, route }: Plan, address: string, { from, name }: Parameter, value: string): string =>
  from === 'query'
    ? `${address}?${name}=${encodeURIComponent(value)}`
    : `/${slug}${route.path.replace(`{${name}}`, encodeURIComponent(value)).replaceAll(/\{[^}]+\}/g, randomUUID())}`;

/** Ids of rows that a path may name. */
async function addressOf(plan: Plan): Promise<string> {
  const names = [...plan.route.path.matchAll(/\{([^}]+)\}/g)].map(match => match[1]!);
  const type = getNamedType(plan.field.type).name.replace(/Connection$/, '');
  const meta = [...p.host(plan.slug).orm.getMetadata().getAll().values()].find(one => one.className === type);
  let path: string = plan.route.path;
  for (const name of names) {
    const column = meta?.properties[toCamel(name) as never]?.['fieldNames']?.[0] ?? 'id';
    const [row] = meta
      ? await p.sql(`select "${column}"::text as key from ${schemaOf(plan.slug)}."${meta.tableName}" limit 1`).catch(() => [])
      : [];
    path = path.replace(`{${name}}`, name === 'user_id' ? DEMO : (row?.key ?? randomUUID()));
  }
  return `/${plan.slug}${path}`;
}

const about = (what: string, value: unknown, { status, body }: Answer): string =>
  `${what} = ${JSON.stringify(value)?.slice(0, 80)}: ${status} ${JSON.stringify(body).slice(0, 300)}`;

/** Amounts that may be below 0: floors of accounts. */
const SIGNED = ['floor', 'min_available'];
const SKIPPED = /test-clock|test-flags|test-faults/;

describe('what an attacker writes', () => {
  test.each(rows.filter(one => !SKIPPED.test(one.key)).map(one => [one.key, one] as const))(
    '%s',
    async (_, plan) => {
      const token = plan.isMe ? await p.userToken(DEMO, ['read:payments']) : await p.serviceToken();
      const address = await addressOf(plan);
      const { body: filled, query } = requestFor(plan, { userId: DEMO, mark: 'attack' });
      const base = { ...filled, ...(plan.route.example?.request as object | undefined) };
      const wrong: string[] = [];
      for (const { path, type } of leavesIn(plan))
        for (const value of HOSTILE[type] ?? TEXTS) {
          const answer = await p.rest(plan.route.method, `${address}${query}`, { token, body: put(base, path, value) });
          const what = about(`${plan.key} ${path.join('.')}`, value, answer);
          if (answer.status >= 500) wrong.push(what);
          if (answer.status >= 400 && !/problem\+json/.test(String(answer.headers['content-type']))) wrong.push(what);
          if (answer.status < 300 && typeof value === 'number' && Object.is(value, -1) && !SIGNED.includes(String(path.at(-1))))
            wrong.push(what);
          if (answer.status < 300 && [1.5, 2 ** 53, 2 ** 63, 1e308].includes(value as number) && HOSTILE.SafeInt === HOSTILE[type])
            wrong.push(what);
        }
      for (const { source } of plan.variables)
        for (const value of source.from === 'query' || source.from === 'path' ? TEXTS_OF_ADDRESSES : []) {
          const answer = await p.rest(plan.route.method, withParameter(plan, address, source as Parameter, value), {
            token,
            ...(plan.route.method !== 'GET' && { body: base }),
          });
          if (answer.status >= 500) wrong.push(about(`${plan.key} ${(source as Parameter).name}`, value, answer));
        }
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});

describe("somebody else's things in one's own purchase", () => {
  const SCOPES = ['manage:subscriptions', 'read:payments', 'read:subscriptions', 'read:invoices', 'read:cash_balance'];
  const USD = (amount: number) => ({ amount, currency: 'USD' });
  const PRICE = '0190b3a0-0000-7000-8000-0000000e0001';
  const CARD = '0190b3a0-0000-7000-8000-0000000e0031';
  let token: string;
  let own: { session: string; subscription: string; invoice: string; method: string };
  let demo: { subscription: string; invoice: string; ref: string; open: string };

  const post = (path: string, body: object, method = 'POST'): Promise<Answer> => p.rest(method, path, { token, body });
  const rowOf = async (text: string): Promise<any> => (await p.sql(text))[0];

  beforeAll(async () => {
    token = await p.userToken(DEMO2, SCOPES);
    const buying = { mode: 'subscription', items: [{ price_id: PRICE, quantity: 1 }] };
    const bought = await post('/payments/v1/checkout', { ...buying, payment_method_token: 'pm_card_mastercard' });
    expect(bought).toMatchObject({ status: 201, body: { status: 'complete' } });
    const session = await post('/payments/v1/checkout', { mode: 'setup', return_url: 'http://localhost:3000/done' });
    const mine =
      await rowOf(`select s.id as subscription, s.latest_invoice_id as invoice, m.id as method from payments.billing_subscription s
      join payments.payment_method m on m.user_id = s.user_id where s.user_id = '${DEMO2}'`);
    own = { session: session.body.id, ...mine };
    const theirs = await rowOf(
      `select id as subscription, latest_invoice_id as invoice from payments.billing_subscription where user_id = '${DEMO}' limit 1`,
    );
    demo = { ...theirs, ref: idOf('pm', `${idOf('cus', `${DEMO}:${BRAND}`)}:pm_card_visa:0`) };
    const open = { mode: 'setup', user_id: DEMO, return_url: 'http://localhost:3000/done' };
    demo.open = (await p.rest('POST', '/payments/v1/checkout', { token: await p.serviceToken(), body: open })).body.id;
  });

  const RECIPIENT = { name: 'Somebody', email: 'somebody@example.com' };
  const [RETURN, ITEMS] = ['http://localhost:3000/done', [{ price_id: PRICE, quantity: 1 }]];
  const attacks: [string, () => Promise<Answer>][] = [
    [
      "a checkout with another's card",
      () => post('/payments/v1/checkout', { mode: 'subscription', items: ITEMS, payment_method_id: CARD }),
    ],
    [
      "a checkout with the processor's name of another's card",
      () => post('/payments/v1/checkout', { mode: 'subscription', items: ITEMS, payment_method_token: demo.ref }),
    ],
    [
      'a checkout for another',
      () => post('/payments/v1/checkout', { mode: 'subscription', items: ITEMS, user_id: DEMO, payment_method_token: 'pm_card_visa' }),
    ],
    [
      "a checkout at an amount of one's own",
      () =>
        post('/payments/v1/checkout', {
          mode: 'payment',
          amount: USD(1),
          reference: { type: 'visit', id: randomUUID() },
          description: 'cheap',
          payment_method_id: own.method,
        }),
    ],
    ["confirming with another's card", () => post(`/payments/v1/checkout/${own.session}/confirm`, { payment_method_id: CARD })],
    [
      "confirming another's checkout with one's own card",
      () => post(`/payments/v1/checkout/${demo.open}/confirm`, { payment_method_id: own.method }),
    ],
    ["attaching another's card by the processor's name", () => post('/payments/v1/billing/payment-methods', { token: demo.ref })],
    ['attaching a card to another', () => post('/payments/v1/billing/payment-methods', { token: 'pm_card_visa', user_id: DEMO })],
    ["another's card as one's default", () => post(`/payments/v1/billing/payment-methods/${CARD}/default`, {})],
    ["a subscription on another's card", () => post('/payments/v1/subscriptions', { price_id: PRICE, payment_method_id: CARD })],
    [
      'a subscription with a trial of a month',
      () => post('/payments/v1/subscriptions', { price_id: PRICE, payment_method_id: own.method, trial_days: 30 }),
    ],
    [
      "moving one's subscription to another's card",
      () => post(`/payments/v1/subscriptions/${own.subscription}`, { payment_method_id: CARD }, 'PATCH'),
    ],
    [
      'moving to a dearer plan for nothing',
      () =>
        post(
          `/payments/v1/subscriptions/${own.subscription}`,
          { price_id: '0190b3a0-0000-7000-8000-0000000e0003', effective: 'now', proration: 'none' },
          'PATCH',
        ),
    ],
    [
      "paying one's invoice by another's card",
      async () => {
        await p.sql(`update payments.invoice set status = 'past_due' where id = $1`, [own.invoice]);
        return post(`/payments/v1/billing/invoices/${own.invoice}/pay`, { payment_method_id: CARD });
      },
    ],
    ["paying another's invoice", () => post(`/payments/v1/billing/invoices/${demo.invoice}/pay`, { payment_method_id: own.method })],
    ["another's invoice as a document", () => p.rest('GET', `/payments/v1/billing/invoices/${demo.invoice}/pdf`, { token })],
    [
      "a gift on another's card",
      () =>
        post('/payments/v1/billing/gifts/checkout-session', {
          kind: 'credit',
          value: USD(5_000),
          recipient: RECIPIENT,
          return_url: RETURN,
          payment_method_id: CARD,
        }),
    ],
    ["another's billing pages", () => post('/payments/v1/billing/portal-session', { user_id: DEMO, return_url: RETURN })],
    ["where another's payouts go", () => post('/payments/v1/billing/payout-destination', { user_id: DEMO, token: 'ba_test' }, 'PUT')],
    [
      "a membership on another's card",
      () =>
        post('/membership/v1/memberships/join', {
          plan_id: '0190b3a0-0000-7000-8000-0000000d0001',
          tier_key: 'basic',
          interval: 'month',
          payment_method_id: CARD,
          return_url: RETURN,
        }),
    ],
    [
      'cash of another',
      () => post('/cash/v1/cash/spend', { user_id: DEMO, amount: USD(1), reference: { type: 'invoice', id: demo.invoice } }),
    ],
    ["cash for another's invoice", () => post('/cash/v1/cash/spend', { amount: USD(1), reference: { type: 'invoice', id: demo.invoice } })],
    ['cash for no invoice at all', () => post('/cash/v1/cash/spend', { amount: USD(1), reference: { type: 'order', id: randomUUID() } })],
    ['a return address elsewhere', () => post('/payments/v1/checkout', { mode: 'setup', return_url: 'https://evil.example/' })],
    [
      'billing pages that return elsewhere',
      () => post('/payments/v1/billing/portal-session', { return_url: 'http://localhost:3000.evil.example/done' }),
    ],
  ];

  /** Everything of the demo user that money is made of. */
  const belongings = async (): Promise<unknown> =>
    Promise.all(
      ['payment_method', 'billing_subscription', 'invoice', 'payment', 'checkout_session', 'payout_destination'].map(table =>
        p.sql(`select to_jsonb(t) - 'version' as row from payments.${table} t where user_id = $1 order by id`, [DEMO]),
      ),
    );
  const charged = (): Promise<unknown> =>
    p.sql(`select count(*) from payments.payment where status = 'succeeded' and (user_id = $1 or payment_method_id = $2)`, [DEMO, CARD]);

  test.each(attacks)('%s is refused, and nothing is taken', async (_, attack) => {
    const before = [await belongings(), await charged()];
    const answer = await attack();
    expect([400, 403, 404, 409, 401], JSON.stringify(answer.body).slice(0, 400)).toContain(answer.status);
    expect(JSON.stringify(answer.body)).not.toMatch(/4242|demo@example/);
    expect([await belongings(), await charged()]).toEqual(before);
  });
});
