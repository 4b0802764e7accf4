import { Arg, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { User } from '../stubs.js';

/** Where this service's own documents begin that ask its neighbours about an entity; says nothing of whether there is such a user. */
@Resolver(() => User)
export class RankedUserResolver {
  @Access({ internal: ['intelligence'] })
  @Query(() => User, { description: 'The entity of a ranking, so that one document can ask others about it.' })
  rankedUser(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string): User {
    return Object.assign(new User(), { id: id.toLowerCase() });
  }
}
