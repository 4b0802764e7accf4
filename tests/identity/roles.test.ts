import { describe, expect, test } from 'vitest';
import { anySatisfies, beyond, isPermissionShaped, PERMISSIONS, reduced, satisfies } from '../../subgraphs/identity/rules/permissions.js';
import { BUILT_IN_ROLES, checkPermission, mayBearPower, powerOf, type HeldRole } from '../../subgraphs/identity/rules/roles.js';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const BRAND = '0190b3a0-0000-7000-8000-000000000001';
const held = (role: string, permissions: string[], more: Partial<HeldRole> = {}): HeldRole => ({
  assignmentId: `a-${role}`,
  role,
  permissions,
  brandId: null,
  expiresAt: null,
  ...more,
});

describe('a permission', () => {
  test.each([
    ['admin:payments', 'admin:payments', true],
    ['admin:payments', 'admin:payments:refund:approve', true],
    ['admin:payments:refund', 'admin:payments:refund:approve', true],
    ['admin:payments:refund', 'admin:payments:refunds', false],
    ['admin:payments:read', 'admin:payments', false],
    ['admin:payments:read', 'admin:payments:refund:read', false],
    ['admin:pay', 'admin:payments', false],
  ])('%s satisfies %s: %s', (one, needed, expected) => expect(satisfies(one, needed)).toBe(expected));

  test.each([
    ['admin:payments', true],
    ['admin:payments:refund:approve', true],
    ['admin:clinical:labs:read', true],
    ['admin:nothing', false],
    ['admin:', false],
    ['payments:read', false],
    ['admin:payments:', false],
    ['admin:payments:Refund', false],
    ['admin:payments:a:b:c:d', false],
  ])('%s is of a service that exists: %s', (one, expected) => expect(isPermissionShaped(one)).toBe(expected));

  test('that nobody holds cannot be handed on', () => {
    expect(beyond(['admin:payments', 'admin:identity:read'], ['admin:payments:refund', 'admin:identity:read', 'admin:identity'])).toEqual([
      'admin:identity',
    ]);
  });

  test('that another one includes is left out of a set', () =>
    expect(reduced(['admin:live:read', 'admin:live', 'admin:live', 'admin:cash'])).toEqual(['admin:cash', 'admin:live']));
});

describe('the built-in roles', () => {
  test('are those of the specification, and hold only what a contract names', () => {
    expect(BUILT_IN_ROLES.map(role => role.key)).toEqual([
      'owner',
      'admin',
      'support',
      'clinician',
      'moderator',
      'finance',
      'content_editor',
      'analyst',
      'developer',
      'privacy_officer',
    ]);
    expect(BUILT_IN_ROLES.flatMap(role => role.permissions).filter(one => !PERMISSIONS.has(one))).toEqual([]);
  });

  test.each([
    ['owner', 'admin:identity:erasure', true],
    ['admin', 'admin:payments:refund:approve', true],
    ['admin', 'admin:identity:staff', true],
    ['admin', 'admin:identity:clients', false],
    ['admin', 'admin:identity', false],
    ['support', 'admin:identity:read', true],
    ['support', 'admin:identity:moderate', false],
    ['support', 'admin:comms:send', true],
    ['support', 'admin:comms:content', false],
    ['clinician', 'admin:clinical:read', true],
    ['clinician', 'admin:capri:read', true],
    ['support', 'admin:capri:read', false],
    ['moderator', 'admin:identity:moderate', true],
    ['finance', 'admin:capri:reconcile', true],
    ['content_editor', 'admin:live', false],
    ['analyst', 'admin:commerce:read', true],
    ['developer', 'admin:identity:clients', true],
    ['developer', 'admin:identity:read', false],
    ['privacy_officer', 'admin:identity:erasure', true],
  ])('%s may %s: %s', (key, permission, expected) =>
    expect(anySatisfies(BUILT_IN_ROLES.find(role => role.key === key)!.permissions, permission)).toBe(expected),
  );
});

describe('the power in a token', () => {
  test('is what is held on the brand of the app now', () => {
    const roles = [
      held('support', ['admin:commerce']),
      held('analyst', ['admin:analytics'], { brandId: BRAND }),
      held('finance', ['admin:cash'], { brandId: 'other' }),
      held('owner', ['admin:identity'], { expiresAt: NOW }),
    ];
    expect(powerOf(roles, BRAND, NOW)).toEqual({ roles: ['analyst', 'support'], permissions: ['admin:analytics', 'admin:commerce'] });
    expect(powerOf(roles, null, NOW)).toEqual({ roles: ['support'], permissions: ['admin:commerce'] });
  });

  const may = { staffActive: true, staffAccess: true, amr: ['pwd', 'otp', 'mfa'], authTime: new Date(NOW.getTime() - 12 * 3_600_000) };
  test.each([
    ['all conditions hold', {}, true],
    ['the person is not active staff', { staffActive: false }, false],
    ['the app has no staff access', { staffAccess: false }, false],
    ['there was no second factor', { amr: ['pwd'] }, false],
    ['the sign-in is older than twelve hours', { authTime: new Date(may.authTime.getTime() - 1) }, false],
  ])('is there when %s: %o', (_why, change, expected) => expect(mayBearPower({ ...may, ...change }, NOW)).toBe(expected));
});

describe('a permission check', () => {
  const support = held('support', ['admin:payments:read', 'admin:commerce']);
  const ask = (staff: 'active' | 'suspended' | null, roles: HeldRole[], permission: string, brandId: string | null = null) =>
    checkPermission(staff, roles, { permission, brandId }, NOW);

  test.each([
    [null, [support], 'admin:commerce', null, 'not_staff'],
    ['suspended', [support], 'admin:commerce', null, 'suspended'],
    ['active', [support], 'admin:payments', null, 'missing_permission'],
    ['active', [], 'admin:payments', null, 'missing_permission'],
    ['active', [{ ...support, expiresAt: NOW }], 'admin:commerce', null, 'expired'],
    ['active', [{ ...support, brandId: BRAND }], 'admin:commerce', null, 'brand_mismatch'],
    ['active', [{ ...support, brandId: BRAND }], 'admin:commerce', 'other', 'brand_mismatch'],
    ['active', [{ ...support, brandId: BRAND }], 'admin:commerce:order', BRAND, 'granted'],
    ['active', [{ ...support, expiresAt: NOW }, support], 'admin:commerce', null, 'granted'],
  ] as const)('of %s with %j for %s on %s says %s', (staff, roles, permission, brandId, reason) => {
    const { allowed, reason: said, matched } = ask(staff, [...roles], permission, brandId);
    expect({ allowed, said, matched: matched !== null }).toEqual({
      allowed: reason === 'granted',
      said: reason,
      matched: reason === 'granted',
    });
  });
});
