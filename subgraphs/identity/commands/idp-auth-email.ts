import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { UserStatus } from '../entities/user.js';
import { AUTH_EMAIL_TEMPLATES, type AuthEmail, MAKES_ACCOUNT, onwardUrl } from '../rules/auth-email.js';
import { type ChallengeKind, CHALLENGES } from '../rules/challenges.js';
import { emailKey } from '../rules/emails.js';
import { isRegisteredOrigin } from '../rules/redirects.js';
import { accountByEmail, plantPending } from './account.js';
import { issueChallenge } from './challenge.js';

/** Name of the outside provider in `external_identity`. */
const PROVIDER = 'idp';

/** How long a repeated `webhook-id` is known. */
const KEPT_MS = 3 * 86_400_000;

async function checkRedirect(ctx: Context, redirectTo: string | null): Promise<void> {
  if (redirectTo === null) return;
  const rows = await ctx.sql<{ uri: string }>(
    "select distinct unnest(redirect_uris) as uri from identity.oauth_client where status = 'active'",
  );
  const registered = rows.map(row => row.uri);
  if (!isRegisteredOrigin(redirectTo, registered))
    fail('invalid_request', 'The body is invalid', { errors: [{ pointer: '/redirect_to', message: 'leads to no registered app' }] });
}

const LINKED = `
select u.id, u.status from identity.external_identity x join identity."user" u on u.id = x.user_id where x.provider = $1 and x.subject = $2 for no key update of u`;

const isOpen = (status: UserStatus): boolean => status === UserStatus.ACTIVE || status === UserStatus.PENDING;

/** By the provider's id; by a verified address, or one that nobody has proven yet; else a new pending one, where the mail may come first. */
async function userFor(ctx: Context, { type, userId: subject, email, locale }: AuthEmail): Promise<string | null> {
  const [linked] = await ctx.sql<{ id: string; status: UserStatus }>(LINKED, [PROVIDER, subject]);
  if (linked) return isOpen(linked.status) ? linked.id : null;
  const known = await accountByEmail(ctx, email);
  if (known?.status === UserStatus.PENDING) return known.userId;
  if (known) return (await isVerified(ctx, email)) && isOpen(known.status) ? known.userId : null;
  if (!MAKES_ACCOUNT.includes(type)) return null;
  const id = await plantPending(ctx, { email, locale });
  await ctx.sql('insert into identity.external_identity (id, user_id, provider, subject, created_at) values ($1, $2, $3, $4, $5)', [
    newId(),
    id,
    PROVIDER,
    subject,
    ctx.now().toISOString(),
  ]);
  return id;
}

async function isVerified(ctx: Context, email: string): Promise<boolean> {
  const text = 'select 1 as verified from identity.user_email where email_key = $1 and verified_at is not null';
  return (await ctx.sql(text, [emailKey(email)])).length > 0;
}

/** Our own link proves the address and leads on to the provider's; where we have no link of this kind, the provider's is the link. */
async function send(ctx: Context, email: AuthEmail, userId: string): Promise<string> {
  const template = AUTH_EMAIL_TEMPLATES[email.type];
  const { linkPath }: ChallengeKind = CHALLENGES[template];
  const onward = onwardUrl(email);
  const { id } = await issueChallenge(ctx, {
    template,
    userId,
    to: email.email,
    locale: email.locale,
    code: email.token,
    ...(email.expiresIn !== null && { lifetimeMs: email.expiresIn * 1000 }),
    ...(onward !== null && (linkPath === null ? { link: onward } : { payload: { onward } })),
  });
  return id;
}

const CLAIM = 'insert into identity.idp_auth_email (webhook_id, kept_until) values ($1, $2) on conflict do nothing returning 1 as claimed';

/**
 * Takes over an e-mail of an outside identity provider: a challenge, announced by its event. The same `webhook-id` again changes nothing.
 * Needs a transaction. @returns the challenge; null when it is nobody's. @throws invalid_request for an address that is not registered.
 */
export async function receiveIdpAuthEmail(ctx: Context, webhookId: string, email: AuthEmail): Promise<string | null> {
  await checkRedirect(ctx, email.redirectTo);
  const claimed = await ctx.sql(CLAIM, [webhookId, new Date(ctx.now().getTime() + KEPT_MS).toISOString()]);
  if (!claimed.length) {
    const [row] = await ctx.sql<{ id: string | null }>('select challenge_id as id from identity.idp_auth_email where webhook_id = $1', [
      webhookId,
    ]);
    return row!.id;
  }
  const userId = await userFor(ctx, email);
  const id = userId === null ? null : await send(ctx, email, userId);
  await ctx.sql('update identity.idp_auth_email set challenge_id = $2 where webhook_id = $1', [webhookId, id]);
  return id;
}
