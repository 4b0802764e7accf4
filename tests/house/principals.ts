import { expect } from 'vitest';
import type { AccessRule } from '../../runtime/access/rules.js';
import { USER_SCOPES } from '../../subgraphs/identity/rules/scopes.js';
import { ADMIN, DEMO, DEMO2, type Answer, type SharedPlatform } from '../support/platform.js';

/** Somebody who calls, as the token says. */
export interface Principal {
  name: string;
  token: string | null;
  /** Null: no token, or one that is none. */
  claims: Claims | null;
}

interface Claims {
  token_use: 'service' | 'user';
  scope: string;
  service_slug?: string;
  permissions?: string[];
  first_party?: boolean;
  auth_time?: number;
}

/** What an answer has to be that is not let through. */
export interface Refusal {
  status: 401 | 403;
  code: 'unauthenticated' | 'forbidden' | 'insufficient_scope' | 'step_up_required';
  /** Value of `WWW-Authenticate`; null: none. */
  challenge: string | null;
}

export const forbidden: Refusal = { status: 403, code: 'forbidden', challenge: null };
const lacks = (needed: string): Refusal => {
  const scope = needed.split('|')[0]!;
  return { status: 403, code: 'insufficient_scope', challenge: `Bearer error="insufficient_scope", scope="${scope}"` };
};
const stale = (seconds: number): Refusal => ({
  status: 401,
  code: 'step_up_required',
  challenge: `Bearer error="insufficient_user_authentication", max_age="${seconds}"`,
});

/** `a|b`: either; `*`: any. */
const either = (needed: string, holds: (one: string) => boolean): boolean => needed === '*' || needed.split('|').some(holds);

function refusalOfService({ service, internal }: AccessRule, { scope, service_slug: slug }: Claims): Refusal | null {
  if (slug !== undefined && internal?.length === 0) return forbidden;
  if (slug !== undefined && internal?.some(one => one === '*' || one === slug)) return null;
  if (service === undefined) return forbidden;
  return either(service, one => scope.split(' ').includes(one)) ? null : lacks(service);
}

function refusalOfUser({ user, staff, firstParty }: AccessRule, { scope, permissions = [], first_party }: Claims): Refusal | null {
  const holds = (needed: string) => permissions.some(one => needed === one || needed.startsWith(`${one}:`));
  if (staff !== undefined && permissions.length && either(staff, holds)) return null;
  if (user === undefined) return staff !== undefined && permissions.length ? lacks(staff) : forbidden;
  if (firstParty && !first_party) return forbidden;
  const missing = user.find(needed => !either(needed, one => scope.split(' ').includes(one)));
  return missing === undefined ? null : lacks(missing);
}

/** Steps 2-5 of identity A5 by one rule, read from the contract; null: let through. */
export function refusalOf(rule: AccessRule | null, { token, claims }: Principal): Refusal | null {
  if (rule?.public && token === null) return null;
  if (claims === null)
    return { status: 401, code: 'unauthenticated', challenge: token === null ? 'Bearer' : 'Bearer error="invalid_token"' };
  if (rule === null) return forbidden;
  if (rule.public) return null;
  const refusal = claims.token_use === 'service' ? refusalOfService(rule, claims) : refusalOfUser(rule, claims);
  if (refusal || rule.stepUp === undefined || claims.token_use === 'service') return refusal;
  return Date.now() / 1000 - claims.auth_time! > rule.stepUp ? stale(rule.stepUp) : null;
}

export function expectRefusal(who: string, { status, headers, body }: Answer, refusal: Refusal): void {
  const seen = { who, status, code: body?.code, challenge: headers['www-authenticate'] ?? null, type: headers['content-type'] };
  expect(seen).toEqual({ who, ...refusal, type: expect.stringContaining('application/problem+json') });
}

const HOUR = 3_600_000;
/** Health data is for first-party apps, or for those with an agreement. */
const NOT_PHI = Object.keys(USER_SCOPES).filter(scope => USER_SCOPES[scope] !== 'PHI');

function principal(name: string, token: string): Principal {
  return { name, token, claims: JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims };
}

/** Let in by a scope, as any member is: what somebody may do elsewhere opens nobody's objects here. */
const STAFF_AS_MEMBER = 'an analyst with the scopes of a member';
/** Users who own none of the objects, and whom no permission lets see them. */
export const STRANGERS: readonly string[] = ['another user', STAFF_AS_MEMBER];

/** Everybody who may call, over the objects of the demo user. */
export async function principalsOf(p: SharedPlatform): Promise<Record<string, Principal>> {
  const user = async (name: string, id: string, scopes: readonly string[], options: object = {}) =>
    principal(name, await p.userToken(id, [...scopes], options));
  const all = Object.keys(USER_SCOPES);
  const staff = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] };
  const made: Principal[] = [
    { name: 'nobody', token: null, claims: null },
    { name: 'a forged token', token: 'usr_e30.e30.e30', claims: null },
    await user('the owner', DEMO, all),
    await user('the owner without scopes', DEMO, ['read:content']),
    await user('the owner with an old sign-in', DEMO, all, { authTime: new Date(Date.now() - HOUR) }),
    await user("the owner through somebody else's app", DEMO, NOT_PHI, { clientId: 'demo-partner-app' }),
    await user('another user', DEMO2, all),
    await user('an owner of the staff', ADMIN, ['read:profile'], staff),
    await user('an analyst', ADMIN, ['read:profile'], { ...staff, roles: ['analyst'], permissions: ['admin:analytics'] }),
    await user(STAFF_AS_MEMBER, ADMIN, all, { ...staff, roles: ['analyst'], permissions: ['admin:analytics'] }),
    await user('staff through an app without staff access', ADMIN, all, { amr: staff.amr }),
    principal('a service with all scopes', await p.serviceToken()),
    principal('a service with one scope', await p.serviceToken('admin:follows')),
    principal('an internal service', await p.internalToken('cash')),
  ];
  return Object.fromEntries(made.map(one => [one.name, one]));
}
