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
import { readSupergraph } from '../../gateway/compose.js';
import { planTables, type Plan } from '../../rest-adapter/plan.js';
import { toCamel, toSnake } from '../../rest-adapter/wire.js';
import { tables } from '../house/composition.js';
import { requestFor } from '../house/requests.js';
import { DEMO, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { purchaseJourney } from './purchases.js';
import { walletJourney } from './wallet.js';

/**
 * Everything that the services of money take, with what an attacker would write in its place: nothing of it breaks them, and no amount that is
 * none is taken. Source: must-not-happen 22, 29 and 31.
 */
const MONEY: readonly Slug[] = ['payments', 'cash', 'accounting', 'membership', 'affiliates'];
const schema = buildASTSchema(parse(await readSupergraph()), { assumeValid: true });
const writes = planTables(schema, tables).filter(plan => MONEY.includes(plan.slug) && plan.route.method !== 'GET');

let p: TestPlatform;

beforeAll(async () => {
  p = await platform({ services: [...MONEY, 'jobs', 'entitlements'] });
  await walletJourney(p);
  await purchaseJourney(p);
}, 120_000);

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
  test.each(writes.filter(one => !SKIPPED.test(one.key)).map(one => [one.key, one] as const))(
    '%s',
    async (_, plan) => {
      const token = plan.isMe ? await p.userToken(DEMO, ['read:payments']) : await p.serviceToken();
      const address = await addressOf(plan);
      const { body: filled, query } = requestFor(plan, { userId: DEMO, mark: 'attack' });
      const base = { ...filled, ...((plan.route.example?.request as object | undefined) ?? {}) };
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
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});
