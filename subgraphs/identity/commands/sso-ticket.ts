import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';

/** Source: identity 4.7. */
const TICKET_MS = 60_000;

/** What a ticket is good for. */
export interface SsoTicket {
  userId: string;
  clientId: string;
  returnTo: string;
  amr: string[];
  partner: string;
}

/** Makes a ticket. Needs a transaction. */
export async function issueTicket(
  ctx: Context,
  { userId, partner, clientId, returnTo, amr }: SsoTicket,
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url');
  const [now, expiresAt] = [ctx.now(), new Date(ctx.now().getTime() + TICKET_MS)];
  await ctx.sql(
    `insert into identity.sso_ticket (hash, user_id, partner, client_id, return_to, amr, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [sha256(token), userId, partner, clientId, returnTo, amr, now.toISOString(), expiresAt.toISOString()],
  );
  return { token, expiresAt };
}

const COLUMNS = 'user_id as "userId", partner, client_id as "clientId", return_to as "returnTo", amr';
const LIVE = 'hash = $1 and used_at is null and expires_at > $2';

/** A ticket that is still good; null: used, over or unknown. Looking does not use it. */
export async function findTicket(ctx: Context, token: string): Promise<SsoTicket | null> {
  return (
    (await ctx.sql<SsoTicket>(`select ${COLUMNS} from identity.sso_ticket where ${LIVE}`, [sha256(token), ctx.now().toISOString()]))[0] ??
    null
  );
}

/** Uses a ticket, once however many try. */
export async function useTicket(ctx: Context, token: string): Promise<SsoTicket | null> {
  const text = `update identity.sso_ticket set used_at = $2 where ${LIVE} returning ${COLUMNS}`;
  return (await ctx.sql<SsoTicket>(text, [sha256(token), ctx.now().toISOString()]))[0] ?? null;
}
