import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { holdsPermission } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { UserEntitlements } from '../entities/entitlement.js';
import { ASKERS } from '../entities/enums.js';
import { User } from '../stubs.js';
import { loadEntitlements } from '../commands/snapshot.js';

/** Whether the caller may see a user's entitlements: the own ones, or as a service or support anybody's. */
export const seesEntitlements = ({ caller }: Context, userId: string): boolean =>
  caller.kind !== 'user' || userId.toLowerCase() === caller.userId || holdsPermission(caller, ASKERS.staff);

@Resolver(() => User)
export class UserEntitlementsResolver {
  @Access(ASKERS)
  @FieldResolver(() => UserEntitlements, { nullable: true, description: 'What the user may use now; null for another user.' })
  async entitlements(@Root() { id }: User, @Ctx() ctx: Context): Promise<UserEntitlements | null> {
    return isUuid(id) && seesEntitlements(ctx, id) ? loadEntitlements(ctx, id) : null;
  }
}
