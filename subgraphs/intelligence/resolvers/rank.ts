import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { guardAsked } from '../commands/guard.js';
import { makeDecision } from '../commands/rank.js';
import { READERS } from '../entities/access.js';
import { LoopDecision } from '../entities/decision.js';
import { RankInput } from '../inputs/rank.js';
import { User } from '../stubs.js';

@Resolver()
export class RankResolver {
  @Access(READERS)
  @Prepare(guardAsked)
  @Mutation(() => LoopDecision, { description: 'Ranks candidates and logs the decision; the same decision key again answers the same.' })
  rankRecommendations(@Arg('input', () => RankInput) input: RankInput, @Ctx() ctx: Context): Promise<LoopDecision> {
    return makeDecision(ctx, input);
  }

  /** Documents of this service that ask its neighbours about an entity begin here; whether there is such a user stays open. */
  @Access({ internal: ['intelligence'] })
  @Query(() => User, { description: 'The entity of a ranking, so that one document can ask others about it.' })
  rankedUser(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string): User {
    return Object.assign(new User(), { id: id.toLowerCase() });
  }
}
