import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { TokenRevocation, type TokenRevocationKind } from '../entities/revocation.js';

interface Row {
  seq: number;
  kind: TokenRevocationKind;
  value: string;
  not_before: number | null;
  effective: number;
  expires: number;
}

@Resolver()
export class RevocationResolver {
  @Access({ internal: true })
  @Query(() => [TokenRevocation], { description: 'What died before its time after a sequence number, in order.' })
  async tokenRevocations(
    @Ctx() ctx: Context,
    @Rule({ min: 0 }) @Arg('afterSeq', () => Int) afterSeq: number,
    @Rule({ min: 1, max: 1000 }) @Arg('first', () => Int, { defaultValue: 1000 }) first: number,
  ): Promise<TokenRevocation[]> {
    const rows = await ctx.sql<Row>(
      `select seq::float8 as seq, kind, value, not_before::float8 as not_before, extract(epoch from effective_at)::float8 * 1000 as effective,
       extract(epoch from expires_at)::float8 * 1000 as expires from identity.token_revocation where seq > $1 order by seq limit $2`,
      [afterSeq, first],
    );
    return rows.map(({ seq, kind, value, not_before, effective, expires }) => ({
      seq,
      kind,
      value,
      notBefore: not_before,
      effectiveAt: new Date(Math.round(effective)),
      expiresAt: new Date(Math.round(expires)),
    }));
  }
}
