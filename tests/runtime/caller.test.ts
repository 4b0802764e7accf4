import { expect, test } from 'vitest';
import { ANONYMOUS, holdsPermission, isStaff, type Caller } from '../../runtime/request/caller.js';

const staff = (...permissions: string[]): Caller => ({ ...ANONYMOUS, kind: 'user', permissions });

test.each([
  ['admin:payments', 'admin:payments', true],
  ['admin:payments', 'admin:payments:refund:approve', true],
  ['admin:payments:refund', 'admin:payments:refund:approve', true],
  ['admin:payments:read', 'admin:payments', false],
  ['admin:payments:read', 'admin:payments:refund', false],
  ['admin:pay', 'admin:payments', false],
  ['admin:payments:re', 'admin:payments:refund', false],
])('%s satisfies %s: %s', (held, needed, expected) => expect(holdsPermission(staff(held), needed)).toBe(expected));

test('permissions are those of user tokens: a service has scopes', () => {
  const service: Caller = { ...staff('admin:payments'), kind: 'service' };
  expect([isStaff(service), holdsPermission(service, 'admin:payments'), isStaff(staff())]).toEqual([false, false, false]);
});
