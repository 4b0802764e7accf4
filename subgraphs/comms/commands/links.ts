import { createHmac } from 'node:crypto';
import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';
import { settingsOf } from '../ports/settings.js';

const YEAR_MS = 365 * 86_400_000;

/** 256 bits that lead from a mail to its switches; the same for each copy of a mail, so that a second one does not differ. Source: comms, rule 13. */
export const tokenOf = ({ host }: Pick<Context, 'host'>, messageId: string): string =>
  createHmac('sha256', settingsOf(host).addressKey).update(`mail:${messageId}`).digest('base64url');

export const tokenHash = (token: string): Buffer => sha256(token);

/** How a mail's link is stored: its hash, and what it may change. */
export const mailToken = (
  ctx: Context,
  mail: { messageId: string; userId: string | null; addressHash: string; masked: string; topic: string },
) => ({
  token_hash: tokenHash(tokenOf(ctx, mail.messageId)).toString('hex'),
  user_id: mail.userId,
  address_hash: mail.addressHash,
  masked: mail.masked,
  topic: mail.topic,
  expires_at: new Date(ctx.now().getTime() + YEAR_MS).toISOString(),
});

export type NewToken = ReturnType<typeof mailToken>;

const INSERT = `
insert into comms.mail_token (token_hash, user_id, address_hash, masked, topic, expires_at)
select decode(t.token_hash, 'hex'), t.user_id, t.address_hash, t.masked, t.topic, t.expires_at
from jsonb_to_recordset($1::jsonb) as t(token_hash text, user_id uuid, address_hash text, masked text, topic text, expires_at timestamptz) on conflict (token_hash) do nothing`;

export const storeTokens = (ctx: Context, tokens: readonly NewToken[]): Promise<unknown> =>
  tokens.length ? ctx.sql(INSERT, [JSON.stringify(tokens)]) : Promise.resolve();

export const linkTo = ({ host }: Pick<Context, 'host'>, path: string): string => `${settingsOf(host).linkBase}${path}`;
