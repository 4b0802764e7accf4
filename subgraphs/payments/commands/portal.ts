import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { PortalSession } from '../entities/portal-session.js';
import type { CreatePortalSessionInput } from '../inputs/portal.js';
import { redirectFault } from '../rules/redirect.js';
import { buyerFacts, type BuyerFacts } from './buyer.js';
import { lockCustomer } from './customer.js';
import { hostedToken } from './hosted.js';
import { takeLimitApart } from './rate-limit.js';

/** Source: payments 3.7. */
const SESSION_MS = 15 * MINUTE_MS;

type Asked = { input: CreatePortalSessionInput };

/** Who is let in; asked before the transaction. @throws Problem rate_limited, invalid_request, not_found, unavailable. */
export const portalFacts = preparation(async (ctx: Context, { input }: Asked): Promise<BuyerFacts> => {
  const userId = ctx.subject(input.userId).toLowerCase();
  await takeLimitApart(ctx, 'portal', ctx.caller.userId);
  const facts = await buyerFacts(ctx, userId, null);
  const { brand, redirectUris } = facts;
  const fault = redirectFault(input.returnUrl, { hosts: brand.hosts, redirectUris, production: ctx.host.config.production });
  if (fault) invalid('/input/returnUrl', fault);
  return facts;
});

/** A way into the billing pages: once, within 15 minutes. */
export async function openPortal(ctx: Context, { returnUrl, flow }: CreatePortalSessionInput): Promise<PortalSession> {
  const { account, brand } = portalFacts.of(ctx);
  const customer = await lockCustomer(ctx, {
    userId: account.id,
    brandId: brand.id,
    currency: brand.defaultCurrency,
    email: account.email,
  });
  const session = new PortalSession();
  Object.assign(session, hostedToken(ctx, session.id), {
    userId: account.id,
    customerId: customer.id,
    brandId: brand.id,
    flow,
    returnUrl,
    expiresAt: after(ctx.now(), SESSION_MS),
    createdAt: ctx.now(),
  });
  ctx.em.persist(session);
  ctx.audit('portal.opened', session.id, { flow });
  return session;
}

const ENTER = `update payments.portal_session set used_at = $2, page_hash = $3, token_sealed = null
  where token_hash = $1 and used_at is null and expires_at > $2 returning id`;

/** Lets in whoever comes first. @returns the session with the secret of its browser; null for a token that was used, ended or never was. */
export async function enterPortal(ctx: Context, token: string): Promise<{ session: PortalSession; secret: string } | null> {
  const secret = randomBytes(32).toString('base64url');
  const [entered] = await ctx.sql<{ id: string }>(ENTER, [sha256(token), ctx.now().toISOString(), sha256(secret)]);
  return entered ? { session: await ctx.em.findOneOrFail(PortalSession, { id: entered.id }), secret } : null;
}

/** The session of a browser that was let in; null when it is over. */
export const enteredPortal = (ctx: Context, token: string, secret: string): Promise<PortalSession | null> =>
  ctx.em.findOne(PortalSession, { tokenHash: sha256(token), pageHash: sha256(secret), expiresAt: { $gt: ctx.now() } });
