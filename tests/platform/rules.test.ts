import { describe, expect, test } from 'vitest';
import { FlagConditionAttribute, FlagConditionOperator } from '../../subgraphs/platform/entities/flag.js';
import { attributeViolations } from '../../subgraphs/platform/rules/attributes.js';
import { blotted, withoutUser } from '../../subgraphs/platform/rules/erasure.js';
import { storedHost } from '../../subgraphs/platform/rules/brand.js';
import { user } from './flag-fixtures.js';

describe('a host', () => {
  test.each([
    ['main.example', 'main.example'],
    ['Shop.MAIN.example.', 'shop.main.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ])('%s is stored as %s', (host, stored) => {
    expect(storedHost(host)).toBe(stored);
  });

  test.each([
    '',
    'localhost',
    'main.example:443',
    'https://main.example',
    'a@main.example',
    'main..example',
    '.main.example',
    'main example.com',
    '*.main.example',
    '[::1]',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(130)}example`,
  ])('%s is no host name', host => {
    expect(storedHost(host)).toBeNull();
  });
});

test('a user may say its locale and app version, and is told of every other attribute', () => {
  expect(attributeViolations({ locale: 'de', appVersion: '1.0.0', country: null })).toEqual([]);
  expect(
    attributeViolations({ locale: 'de', country: 'DE', role: ['owner'], tier: 'gold', client: 'x' }).map(({ pointer }) => pointer),
  ).toEqual(['/input/attributes/country', '/input/attributes/role', '/input/attributes/tier', '/input/attributes/client']);
});

describe('an erased user', () => {
  const condition = (attribute: FlagConditionAttribute, ...values: string[]) => ({ attribute, operator: FlagConditionOperator.IN, values });

  test('leaves the conditions on users, and an emptied condition stays', () => {
    const conditions = [
      condition(FlagConditionAttribute.USER, user(1), user(2)),
      condition(FlagConditionAttribute.USER, user(1)),
      condition(FlagConditionAttribute.COUNTRY, 'DE'),
    ];
    expect(withoutUser(conditions, user(1)).map(({ values }) => values)).toEqual([[user(2)], [], ['DE']]);
  });

  test('is blotted out of change records wherever it stands', () => {
    const record = { after: { rules: [{ values: [user(1), user(2)] }] }, requestedBy: `staff:${user(1)}`, approvals: [] };
    expect(blotted(record, user(1))).toEqual({
      after: { rules: [{ values: ['erased', user(2)] }] },
      requestedBy: 'staff:erased',
      approvals: [],
    });
  });
});
