import { Arg, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Context } from '../../../runtime/request/context.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { loadEntitlements } from '../commands/snapshot.js';
import { ASKERS, METERING, READERS } from '../entities/access.js';
import { EntitlementCheck, EntitlementExplanation, UserEntitlementChecks, UserEntitlements } from '../entities/entitlement.js';
import { MAX_ASKED } from '../inputs/feature.js';
import { CheckEntitlementsInput } from '../inputs/usage.js';
import { explanationOf } from '../queries/explanation.js';
import { checkMany, checkOne } from '../queries/facts.js';
import { mayAskAbout, subjectOf } from '../queries/subject.js';
import { upgradesOf } from '../queries/tier.js';
import { MembershipTier, User } from '../stubs.js';

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
  checkEntitlement(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true, description: 'Default: the caller.' }) userId: string | null,
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementCheck> {
    return checkOne(ctx, subjectOf(ctx, userId), key);
  }

  @Access(METERING)
  @Query(() => [UserEntitlementChecks], { description: 'Checks of many users and features, in the order of the question.' })
  checkEntitlements(
    @Arg('input', () => CheckEntitlementsInput) { userIds, keys }: CheckEntitlementsInput,
    @Ctx() ctx: Context,
  ): Promise<UserEntitlementChecks[]> {
    return checkMany(ctx, userIds, keys);
  }

  @Access(READERS)
  @Query(() => EntitlementExplanation, { description: 'Why a user may use a feature, or may not: every rule that is tried, in order.' })
  explainEntitlement(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID) userId: string,
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementExplanation> {
    return explanationOf(ctx, userId.toLowerCase(), key);
  }
}

@Resolver(() => EntitlementCheck)
export class CheckResolver {
  @Access({ ...ASKERS, internal: true })
  @FieldResolver(() => [MembershipTier], { description: 'Tiers that would allow what is denied, lowest rank first, at most three.' })
  upgradeTo(@Root() check: EntitlementCheck, @Ctx() ctx: Context): Promise<MembershipTier[]> {
    return upgradesOf(ctx, check);
  }
}

@Resolver(() => User)
export class UserEntitlementsResolver {
  @Access(ASKERS)
  @FieldResolver(() => UserEntitlements, { nullable: true, description: 'What the user may use now; null for another user.' })
  async entitlements(@Root() { id }: User, @Ctx() ctx: Context): Promise<UserEntitlements | null> {
    return isUuid(id) && mayAskAbout(ctx, id) ? loadEntitlements(ctx, id) : null;
  }
}
