import type { Context } from '../../../runtime/request/context.js';
import type { TokenRevocation, TokenRevocationKind } from '../entities/revocation.js';

interface Row {
  seq: number;
  kind: TokenRevocationKind;
  value: string;
  not_before: number | null;
  effective: number;
  expires: number;
}

const FEED = `
select seq::float8 as seq, kind, value, not_before::float8 as not_before, extract(epoch from effective_at)::float8 * 1000 as effective,
  extract(epoch from expires_at)::float8 * 1000 as expires from identity.token_revocation where seq > $1 order by seq limit $2`;

/** The feed after a sequence number, in order. */
export async function revocationsAfter(ctx: Context, seq: number, first: number): Promise<TokenRevocation[]> {
  const rows = await ctx.sql<Row>(FEED, [seq, first]);
  return rows.map(({ not_before: notBefore, effective, expires, ...row }) => ({
    ...row,
    notBefore,
    effectiveAt: new Date(Math.round(effective)),
    expiresAt: new Date(Math.round(expires)),
  }));
}
