import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { isStaffSignInOver } from '../../rules/roles.js';
import type { PlatformAccount } from './account.js';
import { registrationOf, stateOf } from './state.js';

const { Check } = interactionPolicy;

/** The engine judges `max_age` only together with `openid`; apps that want no id_token may demand a fresh sign-in, too. */
export const SIGN_IN_AGE = 'sign_in_age';

const signedInNow = (ctx: KoaContextWithOIDC): boolean =>
  Boolean((ctx.oidc as KoaContextWithOIDC['oidc'] & { result?: { login?: object } }).result?.login);

function isTooOld(ctx: KoaContextWithOIDC): boolean {
  const age = ctx.oidc.params![SIGN_IN_AGE];
  return age !== undefined && !signedInNow(ctx) && ctx.oidc.session!.past(Number(age));
}

/** A staff app is entered by a sign-in of the last twelve hours, and by staff with a second factor. Source: identity 7, rule 9. */
function isStaffDue(ctx: KoaContextWithOIDC): boolean {
  if (!registrationOf(ctx.oidc.client).staffAccess || signedInNow(ctx)) return false;
  const { account, session, amr } = ctx.oidc as KoaContextWithOIDC['oidc'] & { account?: PlatformAccount; amr?: string[] };
  const isStaff = account?.staff === true;
  return isStaffSignInOver((session!.loginTs ?? 0) * 1000, Date.now()) || (isStaff && !amr?.includes('mfa'));
}

const isUnusable = ({ oidc }: KoaContextWithOIDC): boolean => Boolean(oidc.session!.accountId) && !oidc.account;

/** @throws invalid_request for anything but whole seconds. */
export function checkSignInAge(_ctx: unknown, value: unknown): void {
  if (value !== undefined && !/^\d{1,9}$/.test(String(value))) throw new errors.InvalidRequest('invalid max_age parameter value');
}

/** When a person must be asked: to sign in, and for consent. Source: identity 4.1. */
export function interactions(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const login = policy.get('login')!.checks;
  login.add(new Check('sign_in_age', 'the sign-in is too old', 'login_required', isTooOld));
  login.add(new Check('staff_sign_in', 'staff have to sign in again', 'login_required', isStaffDue));
  login.add(new Check('account_unusable', 'the account cannot be used', 'login_required', isUnusable));
  const { checks } = policy.get('consent')!;
  const requested = checks.get('consent_prompt')!;
  checks.clear();
  checks.add(requested);
  checks.add(new Check('consent_missing', 'the user has to be asked', 'consent_required', ctx => stateOf(ctx).authorization?.asks ?? true));
  return policy;
}

/**
 * The query of an authorization request as the engine shall judge it: an age of sign-in without `openid` by our rule, a `nonce` without an
 * id_token by nobody, and no answer but one in the query.
 */
export function authorizationQuery(query: string): string {
  const params = new URLSearchParams(query);
  const openid = params.getAll('scope').some(scope => scope.split(' ').includes('openid'));
  const adapted = [...params]
    .filter(([name]) => name !== SIGN_IN_AGE && (openid || name !== 'nonce'))
    .map(([name, value]) => (name === 'max_age' && !openid ? [SIGN_IN_AGE, value] : [name, value]))
    .map(([name, value]) => (name === 'response_mode' && value !== 'query' ? [name, 'unsupported'] : [name!, value!]));
  const text = new URLSearchParams(adapted as [string, string][]).toString();
  return text && `?${text}`;
}
