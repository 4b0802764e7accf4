import type { RequiredEntityData } from '@mikro-orm/postgresql';
import { sha256 } from '../../../runtime/data/crypto.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { addressFault } from '../../../runtime/http/outside-url.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { OAuthClient, OAuthClientKind, OAuthClientStatus } from '../entities/client.js';
import { type PartnerSsoTicket, SsoPartner } from '../entities/sso.js';
import { User, UserEmail, UserStatus } from '../entities/user.js';
import type { StartPartnerSsoInput, UpsertSsoPartnerInput } from '../inputs/sso.js';
import { egressNetworks } from '../ports/egress.js';
import { BadSignature, KeysUnavailable, signedClaims } from '../ports/partner-assertion.js';
import { emailKey } from '../rules/emails.js';
import { PAGES } from '../rules/endpoints.js';
import { isOwnAddress } from '../rules/redirects.js';
import { type Assertion, assertionOf, type Claims, failingClaim, linking, type Linking, methodsOf } from '../rules/sso.js';
import { openAccount } from './account.js';
import { issueTicket } from './sso-ticket.js';

/** @throws Problem invalid_request whose reason names the claim. */
function refuseClaim(claim: string, message = 'is not in order'): never {
  invalid('/input/assertion', `the claim ${claim} ${message}`, { reason: claim });
}

/** A partner calls by the clients that are bound to it; none learns which others there are. */
async function partnerOf(ctx: Context, key: string): Promise<SsoPartner> {
  const caller = await ctx.em.findOne(OAuthClient, { id: ctx.caller.clientId, status: OAuthClientStatus.ACTIVE });
  if (caller?.ssoPartner !== key) fail('forbidden', 'This client does not speak for that partner');
  return (await ctx.em.findOne(SsoPartner, { key, enabled: true })) ?? invalid('/input/partner', 'is not set up');
}

/** The claims of an assertion that the partner has signed. @throws Problem invalid_request, unavailable. */
async function claimsOf(ctx: Context, assertion: string, partner: SsoPartner): Promise<Claims> {
  try {
    return await signedClaims(assertion, partner, ctx.host.config);
  } catch (error) {
    if (error instanceof KeysUnavailable)
      fail('unavailable', "The partner's keys cannot be fetched right now", { retryAfter: 5, cause: error });
    invalid('/input/assertion', error instanceof BadSignature ? error.message : 'cannot be read', { reason: 'signature' });
  }
}

/** Signature and claims, before the transaction, because the partner's keys may have to be fetched. */
export const partnerAssertion = preparation(async (ctx: Context, { input }: { input: StartPartnerSsoInput }) => {
  const partner = await partnerOf(ctx, input.partner);
  const claims = await claimsOf(ctx, input.assertion, partner);
  const [issuer, audience, now] = [partner.issuer, ctx.host.config.issuer, Math.floor(ctx.now().getTime() / 1000)];
  const claim = failingClaim(claims, { issuer, audience, now });
  if (claim) refuseClaim(claim);
  return { partner, assertion: assertionOf(claims) };
});

async function appOf(ctx: Context, { clientId, returnTo }: StartPartnerSsoInput): Promise<OAuthClient> {
  const app = await ctx.em.findOne(OAuthClient, { id: clientId, status: OAuthClientStatus.ACTIVE, kind: { $ne: OAuthClientKind.MACHINE } });
  if (!app) invalid('/input/clientId', 'is no app');
  if (!isOwnAddress(returnTo, app.redirectUris)) invalid('/input/returnTo', 'must lead to an origin that the app has registered');
  return app;
}

/** Kept until the assertion is over; afterwards its exp refuses it. @throws Problem invalid_request for the second use. */
async function useOnce(ctx: Context, partner: SsoPartner, { jti, exp }: Assertion): Promise<void> {
  const text = `insert into identity.sso_assertion (partner, jti_hash, expires_at) values ($1, $2, $3) on conflict do nothing returning 1 as fresh`;
  const rows = await ctx.sql(text, [partner.key, sha256(jti), new Date((exp + 60) * 1000).toISOString()]);
  if (rows.length === 0) refuseClaim('jti', 'was used already');
}

const FIND = 'select user_id from identity.external_identity where provider = $1 and subject = $2';
const LINK = 'insert into identity.external_identity (id, user_id, provider, subject, created_at) values ($1, $2, $3, $4, $5)';

interface Found {
  userId: string;
  created: boolean;
}

interface Known {
  partner: SsoPartner;
  assertion: Assertion;
  /** Linked to the subject, or holding its address; null: there is none. */
  userId: string | null;
}

async function opened(ctx: Context, { trustedEmail }: SsoPartner, { email, emailVerified, name }: Assertion): Promise<string> {
  if (email === null) refuseClaim('email', 'is needed for a new account');
  return (await openAccount(ctx, { email, emailVerified: trustedEmail && emailVerified, displayName: name }, 'sso')).id;
}

async function settle(ctx: Context, decision: Linking, { partner, assertion, userId }: Known): Promise<Found> {
  if (decision === 'known') return { userId: userId!, created: false };
  if (decision === 'refuse')
    fail('conflict', 'There is an account with this e-mail address; its owner links it while signed in', { reason: 'account_exists' });
  const created = decision === 'create';
  const linked = created ? await opened(ctx, partner, assertion) : userId!;
  await ctx.sql(LINK, [newId(), linked, partner.key, assertion.sub, ctx.now().toISOString()]);
  ctx.audit('external_identity.linked', linked, { provider: partner.key });
  return { userId: linked, created };
}

/** The account of a partner's subject: linked before, linked now, or made. @throws Problem conflict, invalid_request. */
async function accountFor(ctx: Context, partner: SsoPartner, assertion: Assertion): Promise<Found> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 23))', [`sso:${partner.key}:${assertion.sub}`]); // two first sign-ins at once make one account
  const [known] = await ctx.sql<{ user_id: string }>(FIND, [partner.key, assertion.sub]);
  const account = assertion.email === null ? null : await ctx.em.findOne(UserEmail, { emailKey: emailKey(assertion.email) });
  const state = { known: known !== undefined, account: account && { emailVerified: account.verifiedAt !== null } };
  const userId = known?.user_id ?? account?.userId ?? null;
  const found = await settle(ctx, linking(state, partner, assertion), { partner, assertion, userId });
  const user = await ctx.em.findOneOrFail(User, found.userId);
  if (user.status !== UserStatus.ACTIVE) fail('conflict', 'This account cannot sign in', { reason: 'user_not_active' });
  return found;
}

/** Turns a partner's assertion, once, into a ticket that signs its person in. @throws Problem invalid_request, conflict. */
export async function startPartnerSso(ctx: Context, input: StartPartnerSsoInput): Promise<PartnerSsoTicket> {
  const { partner, assertion } = partnerAssertion.of(ctx);
  const app = await appOf(ctx, input);
  await useOnce(ctx, partner, assertion);
  const { userId, created } = await accountFor(ctx, partner, assertion);
  const ticket = { userId, partner: partner.key, clientId: app.id, returnTo: input.returnTo, amr: methodsOf(partner, assertion) };
  const { token, expiresAt } = await issueTicket(ctx, ticket);
  ctx.audit('sso_ticket.issued', userId, { partner: partner.key, client_id: app.id, created });
  return { ticketUrl: `${ctx.host.config.issuer}${PAGES}/sso/${token}`, expiresAt, userId, created };
}

/** Sets a partner up, or changes it. @throws Problem invalid_request. */
export async function upsertPartner(ctx: Context, { jwks = null, jwksUri, ...rest }: UpsertSsoPartnerInput): Promise<SsoPartner> {
  if ((jwks === null) === (jwksUri == null)) invalid('/input/jwks', 'give either jwks or jwksUri');
  if (jwks !== null && !Array.isArray(jwks.keys)) invalid('/input/jwks', 'must be a JWK set');
  const fault = jwksUri == null ? null : addressFault(String(jwksUri), egressNetworks(ctx.host.config));
  if (fault) invalid('/input/jwksUri', fault);
  const { key } = rest;
  const standing = await ctx.em.findOne(SsoPartner, { key });
  const partner = standing ?? ctx.em.create(SsoPartner, { key, createdAt: ctx.now() } as RequiredEntityData<SsoPartner>, { partial: true });
  Object.assign(partner, { ...rest, jwks, jwksUri: jwksUri == null ? null : String(jwksUri), updatedAt: ctx.now() });
  ctx.em.persist(partner);
  const { trustedEmail: trusted_email, trustedMfa: trusted_mfa, enabled } = partner;
  ctx.audit('sso_partner.upserted', key, { trusted_email, trusted_mfa, enabled });
  return partner;
}
