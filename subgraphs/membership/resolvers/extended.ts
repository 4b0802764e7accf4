import { Arg, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { READERS } from '../entities/access.js';
import { Membership } from '../entities/membership.js';
import { bySubscription, mayAskAbout, membershipOf } from '../queries/membership.js';
import { BillingSubscription, User } from '../stubs.js';

@Resolver(() => User)
export class UserMembershipResolver {
  @Access(READERS)
  @FieldResolver(() => Membership, {
    nullable: true,
    description: 'In the brand, else in that of the token, else the newest; null for another user.',
  })
  async membership(
    @Root() { id }: User,
    @Rule({ pattern: UUID }) @Arg('brandId', () => ID, { nullable: true }) brandId: string | null,
    @Ctx() ctx: Context,
  ): Promise<Membership | null> {
    return mayAskAbout(ctx, id) ? membershipOf(ctx, id, brandId) : null;
  }
}

@Resolver(() => BillingSubscription)
export class SubscriptionMembershipResolver {
  @Access(READERS)
  @FieldResolver(() => Membership, { nullable: true, description: 'The membership that it pays for.' })
  membership(@Root() { id }: BillingSubscription, @Ctx() ctx: Context): Promise<Membership | null> {
    return ctx.load('membership.subscription', id.toLowerCase(), ids => bySubscription(ctx, ids));
  }
}
