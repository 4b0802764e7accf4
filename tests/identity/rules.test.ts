import { MfaMethodKind } from '../../subgraphs/identity/entities/mfa.js';
import { furtherMethods } from '../../subgraphs/identity/rules/second-factors.js';
import { describe, expect, test } from 'vitest';
import { isPhiScope } from '../../events/scopes.js';
import { adminScopeOf, SLUGS } from '../../events/slugs.js';
import { OAuthClientAgreementStatus } from '../../subgraphs/identity/entities/client-agreement.js';
import { OAuthClientSecretStatus } from '../../subgraphs/identity/entities/client-secret.js';
import { ProfileVisibility, UserStatus } from '../../subgraphs/identity/entities/user.js';
import { agreementStatus, allowedScopes, effectiveScopes, mergeConsent, tickedOf } from '../../subgraphs/identity/rules/consent.js';
import { PASSWORD_LIMITS, SECOND_FACTOR_LIMIT, waitAfter } from '../../subgraphs/identity/rules/limits.js';
import { secretStatus } from '../../subgraphs/identity/rules/client-secrets.js';
import { ADMIN_SCOPES, isPhi, scopeSet, USER_SCOPES } from '../../subgraphs/identity/rules/scopes.js';
import {
  activationOf,
  currentKey,
  publishedKeys,
  removableKeys,
  rotationDue,
  type KeyTimes,
} from '../../subgraphs/identity/rules/signing-keys.js';
import { emailKey } from '../../subgraphs/identity/rules/emails.js';
import { seesAccount, seesContact, seesProfile, visibleStatus, type Viewer } from '../../subgraphs/identity/rules/visibility.js';

const day = (n: number): Date => new Date(Date.UTC(2026, 0, 1) + n * 86_400_000);
const viewer = (parts: Partial<Viewer> = {}): Viewer => ({ admin: false, self: false, user: false, scopes: new Set(), ...parts });

const owner = (...scopes: string[]): Viewer => viewer({ self: true, user: true, scopes: new Set(scopes) });
const admin = viewer({ admin: true });
const member = viewer({ user: true, scopes: new Set(['read:account', 'read:profile']) });
const machine = viewer();

describe('scopes', () => {
  test('every service has its machine scope among the admin scopes, and there is no other', () => {
    expect([...ADMIN_SCOPES].sort()).toEqual([...new Set(SLUGS.map(adminScopeOf))].sort());
  });

  test('the class PHI of a scope is the one that events are delivered by', () => {
    expect(Object.keys(USER_SCOPES).filter(isPhi)).toEqual(Object.keys(USER_SCOPES).filter(isPhiScope));
  });

  test('a scope set has one name whatever the order', () => {
    expect(scopeSet(['b', 'a', 'b'])).toEqual(['a', 'b']);
  });
});

describe('what is ticked on the consent page', () => {
  const asked = ['read:account', 'read:biomarkers', 'read:invoices', 'read:inbox'];
  test.each([
    ['the first time', null, ['read:account', 'read:inbox']],
    ['what was given, whatever it is', { scopes: ['read:biomarkers', 'read:invoices'], declinedScopes: [] }, asked],
    ['not what was declined', { scopes: [], declinedScopes: ['read:account', 'read:biomarkers'] }, ['read:inbox']],
  ])('%s', (_case, standing, expected) => expect(tickedOf(asked, standing)).toEqual(expected));

  test('health data and money are never ticked at first', () => {
    const all = Object.keys(USER_SCOPES);
    const sensitive = all.filter(scope => ['PHI', 'FIN'].includes(USER_SCOPES[scope]!));
    expect(tickedOf(all, null)).toEqual(all.filter(scope => !sensitive.includes(scope)));
  });
});

describe('tries', () => {
  const { network, day } = PASSWORD_LIMITS;
  test.each([
    [network, 4, null],
    [network, 5, 60_000],
    [network, 6, 120_000],
    [network, 10, 1_920_000],
    [network, 11, 3_600_000],
    [network, 1000, 3_600_000],
    [day, 49, null],
    [day, 50, 86_400_000],
    [SECOND_FACTOR_LIMIT, 9, null],
    [SECOND_FACTOR_LIMIT, 10, 3_600_000],
  ] as const)('of %o: after %i failures the wait is %s ms', (limit, failures, wait) => expect(waitAfter(limit, failures)).toBe(wait));
});

describe('consent', () => {
  const client = { scopes: ['read:profile', 'read:biomarkers', 'read:clinical'], firstParty: false };
  const agreement = { scopes: ['read:biomarkers'], expiresAt: day(10), endedAt: null };

  test.each([
    ['an app of somebody else without agreement', client, [], ['read:profile']],
    ['an agreement in force', client, [agreement], ['read:profile', 'read:biomarkers']],
    ['an agreement that has expired', client, [{ ...agreement, expiresAt: day(1) }], ['read:profile']],
    ['an agreement that was ended', client, [{ ...agreement, endedAt: day(1) }], ['read:profile']],
    ['an agreement without end', client, [{ ...agreement, expiresAt: null }], ['read:profile', 'read:biomarkers']],
    ['a first-party app', { ...client, firstParty: true }, [], client.scopes],
  ])('%s decides about health scopes', (_case, which, agreements, expected) => {
    expect(allowedScopes(which, agreements, day(1))).toEqual(expected);
    expect(effectiveScopes(['read:biomarkers', 'read:profile', 'read:inbox'], which, agreements, day(1)).sort()).toEqual(
      expected.filter(scope => scope !== 'read:clinical').sort(),
    );
  });

  test.each([
    [{ expiresAt: null, endedAt: null }, OAuthClientAgreementStatus.IN_FORCE],
    [{ expiresAt: day(3), endedAt: null }, OAuthClientAgreementStatus.IN_FORCE],
    [{ expiresAt: day(2), endedAt: null }, OAuthClientAgreementStatus.ENDED],
    [{ expiresAt: null, endedAt: day(2) }, OAuthClientAgreementStatus.ENDED],
  ])('an agreement %j is %s on day 2', (agreement, status) => {
    expect(agreementStatus(agreement, day(2))).toBe(status);
  });

  test.each([
    [null, OAuthClientSecretStatus.ACTIVE],
    [day(3), OAuthClientSecretStatus.RETIRING],
    [day(2), OAuthClientSecretStatus.RETIRED],
    [day(1), OAuthClientSecretStatus.RETIRED],
  ])('a secret that ends at %s is %s on day 2', (expiresAt, status) => {
    expect(secretStatus({ expiresAt }, day(2))).toBe(status);
  });

  const standing = { scopes: ['read:inbox', 'read:profile'], declinedScopes: ['read:account'] };
  test.each([
    ['the first answer', null, { granted: ['read:profile'], declined: ['read:inbox'] }, ['read:profile'], ['read:inbox'], 'consented'],
    ['the same again', standing, { granted: ['read:profile'] }, standing.scopes, standing.declinedScopes, null],
    [
      'one more scope',
      standing,
      { granted: ['read:live'] },
      ['read:inbox', 'read:live', 'read:profile'],
      ['read:account'],
      'scopes_changed',
    ],
    [
      'a declined one ticked after all',
      standing,
      { granted: ['read:account'] },
      ['read:account', ...standing.scopes],
      [],
      'scopes_changed',
    ],
    [
      'a granted one unticked',
      standing,
      { granted: [], declined: ['read:inbox'] },
      ['read:profile'],
      ['read:account', 'read:inbox'],
      'scopes_changed',
    ],
  ])('%s is joined to what stands', (_case, before, answer, scopes, declinedScopes, reason) => {
    expect(mergeConsent(before, answer)).toEqual({ scopes, declinedScopes, reason });
  });
});

describe('who sees what of an account', () => {
  test.each([
    ['the owner with read:account', owner('read:account'), true],
    ['the owner without it', owner('read:profile'), false],
    ['an administrator', admin, true],
    ['another user with read:account', member, false],
    ['a machine', machine, false],
  ])('%s sees the contact data: %s', (_who, who, sees) => {
    expect(seesContact(who)).toBe(sees);
  });

  const { PUBLIC, MEMBERS, PRIVATE } = ProfileVisibility;
  test.each([
    [PUBLIC, [true, true, true, true]],
    [MEMBERS, [true, true, true, false]],
    [PRIVATE, [true, true, false, false]],
  ])('a %s profile of an active user is seen by administrator, owner, member, machine: %s', (visibility, seen) => {
    expect([admin, owner(), member, machine].map(who => seesProfile(who, UserStatus.ACTIVE, visibility))).toEqual(seen);
  });

  test.each([UserStatus.PENDING, UserStatus.SUSPENDED, UserStatus.BANNED, UserStatus.ERASING])(
    'the profile of a %s user is seen by administrators only',
    status => {
      expect([admin, owner(), member, machine].map(who => seesProfile(who, status, PUBLIC))).toEqual([true, false, false, false]);
    },
  );

  test.each(Object.values(UserStatus))('to a stranger a %s account is active or gone', status => {
    expect(visibleStatus(member, status)).toBe(status === UserStatus.ACTIVE ? UserStatus.ACTIVE : UserStatus.ERASED);
    expect([admin, owner()].map(who => visibleStatus(who, status))).toEqual([status, status]);
    expect(seesAccount(machine)).toBe(false);
  });

  test('addresses are compared in NFC and lower case', () => {
    expect(emailKey('De\u0301mo@Example.TEST')).toBe('d\u00e9mo@example.test');
  });
});

describe('signing keys', () => {
  const key = (kid: string, from: number, maxTtlSeconds = 3600): KeyTimes => ({ kid, activeFrom: day(from), maxTtlSeconds });

  test('the first key signs at once, the next is made on day 89 for day 90', () => {
    expect(rotationDue([])).toBeNull();
    expect(activationOf([], day(0))).toEqual(day(0));
    expect(rotationDue([key('a', 0)])).toEqual(day(89));
    expect(activationOf([key('a', 0)], day(89))).toEqual(day(90));
  });

  test('a key that is made late is still published for a day before it signs', () => {
    expect(activationOf([key('a', 0)], day(200))).toEqual(day(201));
  });

  test.each([
    [0, 'a'],
    [89.5, 'a'],
    [90, 'b'],
  ])('on day %s key %s signs', (at, kid) => {
    expect(currentKey([key('b', 90), key('a', 0)], day(at))?.kid).toBe(kid);
  });

  test('before its first key is active a clock that was set back signs with it', () => {
    expect(currentKey([key('a', 10)], day(0))?.kid).toBe('a');
    expect(currentKey([], day(0))).toBeNull();
  });

  test('a key stays published until its last token has expired', () => {
    const keys = [key('a', 0, 3600), key('b', 90, 31_536_000), key('c', 180)];
    const published = (at: Date): string[] => publishedKeys(keys, at).map(one => one.kid);
    expect(published(new Date(day(90).getTime() + 3_599_000))).toEqual(['a', 'b', 'c']);
    expect(published(new Date(day(90).getTime() + 3_600_000))).toEqual(['b', 'c']);
    expect(published(day(180 + 364))).toEqual(['b', 'c']);
    expect(published(day(180 + 365))).toEqual(['c']);
  });

  test('a dead key that is younger than a living one is kept, because it says when that one stopped signing', () => {
    const keys = [key('a', 0, 31_536_000), key('b', 90), key('c', 180)];
    const removable = (at: Date): string[] => removableKeys(keys, at).map(one => one.kid);
    expect(publishedKeys(keys, day(300)).map(one => one.kid)).toEqual(['a', 'c']);
    expect(removable(day(300))).toEqual([]);
    expect(removable(day(90 + 365))).toEqual(['a', 'b']);
    expect(removableKeys([], day(0))).toEqual([]);
  });
});

test.each<[MfaMethodKind[], string[], MfaMethodKind[]]>([
  [[], ['pwd'], []],
  [[MfaMethodKind.TOTP], ['pwd'], [MfaMethodKind.TOTP]],
  [[MfaMethodKind.EMAIL_OTP], ['pwd'], [MfaMethodKind.EMAIL_OTP]],
  [[MfaMethodKind.EMAIL_OTP], ['email'], []],
  [[MfaMethodKind.TOTP, MfaMethodKind.EMAIL_OTP], ['email'], [MfaMethodKind.TOTP]],
])('of %j after %j these prove something more: %j', (kinds, amr, further) => expect(furtherMethods(kinds, amr)).toEqual(further));
