import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { EntitlementCheck, UserEntitlementChecks, UserEntitlements } from '../entities/entitlement.js';
import { ASKERS } from '../entities/enums.js';
import { MAX_ASKED } from '../inputs/patterns.js';
import { CheckEntitlementsInput } from '../inputs/usage.js';
import { Facts } from '../queries/facts.js';
import { loadEntitlements } from '../commands/snapshot.js';
import { subjectOf } from '../queries/subject.js';

@Resolver()
export class EntitlementResolver {
  @Access({ ...ASKERS, self: true })
  @Query(() => UserEntitlements, { description: 'What a user may use now; somebody unknown has the defaults.' })
  entitlements(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true, description: 'Default: the caller.' }) userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<UserEntitlements> {
    return loadEntitlements(ctx, subjectOf(ctx, userId));
  }

  @Access({ ...ASKERS, self: true })
  @Query(() => EntitlementCheck, { description: 'Whether a user may use a feature now. One that is unknown is denied, not an error.' })
  async checkEntitlement(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true, description: 'Default: the caller.' }) userId: string | null,
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementCheck> {
    const subject = subjectOf(ctx, userId);
    return (await Facts.read(ctx, [subject], [key])).check(key, subject);
  }

  @Access({ service: 'admin:entitlements' })
  @Query(() => [UserEntitlementChecks], { description: 'Checks of many users and features, in the order of the question.' })
  async checkEntitlements(
    @Arg('input', () => CheckEntitlementsInput) input: CheckEntitlementsInput,
    @Ctx() ctx: Context,
  ): Promise<UserEntitlementChecks[]> {
    const userIds = input.userIds.map(id => id.toLowerCase());
    const facts = await Facts.read(ctx, userIds, input.keys);
    return userIds.map(userId => ({ userId, checks: input.keys.map(key => facts.check(key, userId)) }));
  }
}
