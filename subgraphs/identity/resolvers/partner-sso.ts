import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { OAuthClient, OAuthClientKind, OAuthClientStatus } from '../entities/client.js';
import { PartnerSsoTicket, SsoPartner } from '../entities/sso.js';
import { User, UserEmail, UserStatus } from '../entities/user.js';
import { StartPartnerSsoInput, UpsertSsoPartnerInput } from '../inputs/sso.js';
import { BadSignature, KeysUnavailable, signedClaims } from '../ports/partner-assertion.js';
import { assertionOf, failingClaim, isOwnAddress, linking, methodsOf, type Assertion } from '../rules/sso.js';
import { emailKey } from '../rules/visibility.js';
import { openAccount } from './create-user.js';
import { issueTicket } from '../commands/sso-ticket.js';

type Field = 'partner' | 'assertion' | 'clientId' | 'returnTo' | 'jwks';

const invalid = (field: Field, message: string, reason?: string): Problem =>
  new Problem('invalid_request', 'The input is invalid', { errors: [{ pointer: `/input/${field}`, message }], ...(reason && { reason }) });

const badClaim = (claim: string, message = 'is not in order'): Problem => invalid('assertion', `the claim ${claim} ${message}`, claim);

/** A partner speaks through the clients that are bound to it; which others there are is told to none. */
async function partnerOf(ctx: Context, key: string): Promise<SsoPartner> {
  const caller = await ctx.em.findOne(OAuthClient, { id: ctx.caller.clientId, status: OAuthClientStatus.ACTIVE });
  if (caller?.ssoPartner !== key) fail('forbidden', 'This client does not speak for that partner');
  return (await ctx.em.findOne(SsoPartner, { key, enabled: true })) ?? Promise.reject(invalid('partner', 'is not set up'));
}

interface Facts {
  partner: SsoPartner;
  assertion: Assertion;
}

/** Signature and claims, before the transaction, because the partner's keys may have to be fetched. */
async function prepare(ctx: Context, { input }: { input: StartPartnerSsoInput }): Promise<Facts> {
  const { config } = ctx.host;
  const partner = await partnerOf(ctx, input.partner);
  const claims = await signedClaims(input.assertion, partner, config).catch((error: Error) => {
    if (error instanceof KeysUnavailable)
      throw new Problem('unavailable', "The partner's keys cannot be fetched right now", { retryAfter: 5, cause: error });
    throw invalid('assertion', error instanceof BadSignature ? error.message : 'cannot be read', 'signature');
  });
  const claim = failingClaim(claims, { issuer: partner.issuer, audience: config.issuer, now: Math.floor(ctx.now().getTime() / 1000) });
  if (claim) throw badClaim(claim);
  return { partner, assertion: assertionOf(claims) };
}

async function appOf(ctx: Context, { clientId, returnTo }: StartPartnerSsoInput): Promise<OAuthClient> {
  const app = await ctx.em.findOne(OAuthClient, { id: clientId, status: OAuthClientStatus.ACTIVE, kind: { $ne: OAuthClientKind.MACHINE } });
  if (!app) throw invalid('clientId', 'is no app');
  if (!isOwnAddress(returnTo, app.redirectUris)) throw invalid('returnTo', 'must lead to an origin that the app has registered');
  return app;
}

/** Kept until the assertion is over; afterwards its exp refuses it. @throws Problem invalid_request for the second use. */
async function useOnce(ctx: Context, partner: SsoPartner, { jti, exp }: Assertion): Promise<void> {
  const text = `insert into identity.sso_assertion (partner, jti_hash, expires_at) values ($1, $2, $3) on conflict do nothing returning 1 as fresh`;
  const rows = await ctx.sql(text, [partner.key, sha256(jti), new Date((exp + 60) * 1000).toISOString()]);
  if (rows.length === 0) throw badClaim('jti', 'was used already');
}

const FIND = 'select user_id from identity.external_identity where provider = $1 and subject = $2';
const LINK = 'insert into identity.external_identity (id, user_id, provider, subject, created_at) values ($1, $2, $3, $4, $5)';

interface Found {
  userId: string;
  created: boolean;
}

/** The account of a partner's subject: linked before, linked now, or made. @throws Problem conflict, invalid_request. */
async function accountFor(ctx: Context, partner: SsoPartner, assertion: Assertion): Promise<Found> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 23))', [`sso:${partner.key}:${assertion.sub}`]); // two first sign-ins at once make one account
  const [known] = await ctx.sql<{ user_id: string }>(FIND, [partner.key, assertion.sub]);
  const account = assertion.email === null ? null : await ctx.em.findOne(UserEmail, { emailKey: emailKey(assertion.email) });
  const state = { known: known !== undefined, account: account && { emailVerified: account.verifiedAt !== null } };
  const found = await settle(ctx, linking(state, partner, assertion), {
    partner,
    assertion,
    userId: known?.user_id ?? account?.userId ?? null,
  });
  const user = await ctx.em.findOneOrFail(User, found.userId);
  if (user.status !== UserStatus.ACTIVE) fail('conflict', 'This account cannot sign in', { reason: 'user_not_active' });
  return found;
}

async function settle(
  ctx: Context,
  decision: ReturnType<typeof linking>,
  { partner, assertion, userId }: Facts & { userId: string | null },
): Promise<Found> {
  if (decision === 'known') return { userId: userId!, created: false };
  if (decision === 'refuse')
    fail('conflict', 'There is an account with this e-mail address; its owner links it while signed in', { reason: 'account_exists' });
  const created = decision === 'create';
  const linked = created ? await opened(ctx, partner, assertion) : userId!;
  await ctx.sql(LINK, [newId(), linked, partner.key, assertion.sub, ctx.now().toISOString()]);
  ctx.audit('external_identity.linked', linked, { provider: partner.key });
  return { userId: linked, created };
}

async function opened(ctx: Context, { trustedEmail }: SsoPartner, { email, emailVerified, name }: Assertion): Promise<string> {
  if (email === null) throw badClaim('email', 'is needed for a new account');
  return (await openAccount(ctx, { email, emailVerified: trustedEmail && emailVerified, displayName: name }, 'sso')).id;
}

@Resolver()
export class PartnerSsoResolver {
  @Access({ service: 'admin:identity|admin:capri' })
  @Prepare(prepare)
  @Mutation(() => PartnerSsoTicket, { description: "Turns a partner's signed word about a person into a ticket that signs the person in." })
  async startPartnerSso(
    @Arg('input', () => StartPartnerSsoInput) input: StartPartnerSsoInput,
    @Ctx() ctx: Context,
  ): Promise<PartnerSsoTicket> {
    const { partner, assertion } = ctx.facts as Facts;
    const app = await appOf(ctx, input);
    await useOnce(ctx, partner, assertion);
    const { userId, created } = await accountFor(ctx, partner, assertion);
    const ticket = { userId, partner: partner.key, clientId: app.id, returnTo: input.returnTo, amr: methodsOf(partner, assertion) };
    const { token, expiresAt } = await issueTicket(ctx, ticket);
    ctx.audit('sso_ticket.issued', userId, { partner: partner.key, client_id: app.id, created });
    return { ticketUrl: `${ctx.host.config.issuer}/v1/auth/sso/${token}`, expiresAt, userId, created };
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => SsoPartner, { description: 'Sets a partner up, or changes it. Clients are bound to it by their ssoPartner.' })
  async upsertSsoPartner(
    @Arg('input', () => UpsertSsoPartnerInput) input: UpsertSsoPartnerInput,
    @Ctx() ctx: Context,
  ): Promise<SsoPartner> {
    const { jwks = null, jwksUri, ...rest } = input;
    if ((jwks === null) === (jwksUri == null)) throw invalid('jwks', 'give either jwks or jwksUri');
    if (jwks !== null && !Array.isArray(jwks.keys)) throw invalid('jwks', 'must be a JWK set');
    const standing = await ctx.em.findOne(SsoPartner, { key: input.key });
    const partner = standing ?? ctx.em.create(SsoPartner, { key: input.key, createdAt: ctx.now() } as never, { partial: true });
    Object.assign(partner, { ...rest, jwks, jwksUri: jwksUri == null ? null : String(jwksUri), updatedAt: ctx.now() });
    ctx.em.persist(partner);
    ctx.audit('sso_partner.upserted', partner.key, {
      trusted_email: partner.trustedEmail,
      trusted_mfa: partner.trustedMfa,
      enabled: partner.enabled,
    });
    return partner;
  }
}
