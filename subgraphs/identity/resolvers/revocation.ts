import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { TokenRevocation } from '../entities/revocation.js';
import { revocationsAfter } from '../queries/revocation.js';

@Resolver()
export class RevocationResolver {
  @Access({ internal: true })
  @Query(() => [TokenRevocation], { description: 'What died before its time after a sequence number, in order.' })
  tokenRevocations(
    @Ctx() ctx: Context,
    @Rule({ min: 0 }) @Arg('afterSeq', () => Int) afterSeq: number,
    @Rule({ min: 1, max: 1000 }) @Arg('first', () => Int, { defaultValue: 1000 }) first: number,
  ): Promise<TokenRevocation[]> {
    return revocationsAfter(ctx, afterSeq, first);
  }
}
