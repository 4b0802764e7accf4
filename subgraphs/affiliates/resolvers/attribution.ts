import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { attributeCustomer, claimAttribution, claimedClick } from '../commands/attribution.js';
import { sendWinBack } from '../commands/win-back.js';
import { ATTRIBUTORS, CUSTOMERS_SEEN, OPERATORS, WIN_BACK, WIN_BACK_SEEN } from '../entities/access.js';
import { Affiliate } from '../entities/affiliate.js';
import { AffiliateAttribution, AttributionClaimReceipt, ReferredCustomer, ReferredCustomerConnection } from '../entities/attribution.js';
import { Commission } from '../entities/commission.js';
import { WinBackClaimStatus } from '../entities/enums.js';
import { WinBackClaim, WinBackClaimConnection } from '../entities/win-back.js';
import { MyWinBackClaimsArgs, SendWinBackInput } from '../inputs/affiliate.js';
import { AttributeCustomerInput, ClaimAttributionInput, MyReferredCustomersArgs } from '../inputs/attribution.js';
import { attributionOf, claimsPage, customersPage } from '../queries/lists.js';
import { claimStateAt } from '../rules/win-back.js';
import { Order, User } from '../stubs.js';

@Resolver(() => AffiliateAttribution)
export class AttributionResolver {
  @Prepare(claimedClick)
  @Access({ user: '*' })
  @Mutation(() => AttributionClaimReceipt, {
    description: 'Claims a click or a code, within 24 hours of the sign-up; what became of it is not told.',
  })
  claimAttribution(
    @Arg('input', () => ClaimAttributionInput) input: ClaimAttributionInput,
    @Ctx() ctx: Context,
  ): Promise<AttributionClaimReceipt> {
    return claimAttribution(ctx, input);
  }

  @Access(ATTRIBUTORS)
  @Mutation(() => AffiliateAttribution, { description: 'Attributes a customer by hand, until the first purchase.' })
  attributeCustomer(
    @Arg('input', () => AttributeCustomerInput) input: AttributeCustomerInput,
    @Ctx() ctx: Context,
  ): Promise<AffiliateAttribution> {
    return attributeCustomer(ctx, input);
  }

  @Access(OPERATORS)
  @Query(() => AffiliateAttribution, { nullable: true, description: 'Who brought a user.' })
  affiliateAttribution(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID) userId: string,
    @Rule({ pattern: UUID }) @Arg('programId', () => ID, { nullable: true, description: 'Default: the oldest.' }) programId: string | null,
    @Ctx() ctx: Context,
  ): Promise<AffiliateAttribution | null> {
    return attributionOf(ctx, userId, programId);
  }

  @Access(CUSTOMERS_SEEN)
  @Query(() => ReferredCustomerConnection, { description: 'Customers whom one has brought, by their pseudonyms, newest first.' })
  myReferredCustomers(
    @Args(() => MyReferredCustomersArgs) args: MyReferredCustomersArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ReferredCustomer>> {
    return customersPage(ctx, args);
  }

  @Access(ATTRIBUTORS)
  @FieldResolver(() => Affiliate)
  async affiliate(@Root() { affiliateId }: AffiliateAttribution, @Ctx() ctx: Context): Promise<Affiliate> {
    return (await loadRow(ctx, Affiliate, 'id', affiliateId))!;
  }
}

@Resolver(() => WinBackClaim)
export class WinBackResolver {
  @Access(WIN_BACK)
  @Query(() => WinBackClaimConnection, { description: 'Lapsed customers whom one may win back, newest first.' })
  myWinBackClaims(@Args(() => MyWinBackClaimsArgs) args: MyWinBackClaimsArgs, @Ctx() ctx: Context): Promise<Connection<WinBackClaim>> {
    return claimsPage(ctx, args);
  }

  @Access(WIN_BACK)
  @Mutation(() => WinBackClaim, { description: 'Has the customer written to, once.' })
  sendWinBack(@Arg('input', () => SendWinBackInput) { id }: SendWinBackInput, @Ctx() ctx: Context): Promise<WinBackClaim> {
    return sendWinBack(ctx, id);
  }

  @Access(WIN_BACK_SEEN)
  @FieldResolver(() => WinBackClaimStatus, { description: 'At the instant of reading.' })
  status(@Root() claim: WinBackClaim, @Ctx() ctx: Context): WinBackClaimStatus {
    return claimStateAt(claim, ctx.now());
  }

  @Access(WIN_BACK_SEEN)
  @FieldResolver(() => String, { description: 'Pseudonym of the customer.' })
  async customerAlias(@Root() { attributionId }: WinBackClaim, @Ctx() ctx: Context): Promise<string> {
    return (await loadRow(ctx, AffiliateAttribution, 'id', attributionId))!.customerAlias;
  }

  @Access(WIN_BACK_SEEN)
  @FieldResolver(() => Affiliate)
  async affiliate(@Root() { affiliateId }: WinBackClaim, @Ctx() ctx: Context): Promise<Affiliate> {
    return (await loadRow(ctx, Affiliate, 'id', affiliateId))!;
  }
}

@Resolver(() => User)
export class UserReferredByResolver {
  @Access(OPERATORS)
  @FieldResolver(() => AffiliateAttribution, { nullable: true, description: 'Who brought the user.' })
  referredBy(@Root() { id }: User, @Ctx() ctx: Context): Promise<AffiliateAttribution | null> | null {
    if (!isUuid(id)) return null;
    return ctx.load('affiliates.referred.by', id.toLowerCase(), async ids => {
      const live = { customerId: { $in: [...ids] }, endedAt: null };
      const rows = await ctx.em.find(AffiliateAttribution, live, { orderBy: { attributedAt: 'asc', id: 'asc' } });
      return ids.map(one => rows.find(({ customerId }) => customerId === one) ?? null);
    });
  }
}

@Resolver(() => Order)
export class OrderAttributionResolver {
  @Access(OPERATORS)
  @FieldResolver(() => AffiliateAttribution, {
    nullable: true,
    description: 'Who brought the customer of the order, where it has earned a commission.',
  })
  async attribution(@Root() { id }: Order, @Ctx() ctx: Context): Promise<AffiliateAttribution | null> {
    if (!isUuid(id)) return null;
    const commission = await ctx.load('affiliates.of.order', id.toLowerCase(), async ids => {
      const rows = await ctx.em.find(Commission, { orderId: { $in: [...ids] } }, { orderBy: { createdAt: 'asc', id: 'asc' } });
      return ids.map(one => rows.find(({ orderId }) => orderId === one) ?? null);
    });
    return commission && loadRow(ctx, AffiliateAttribution, 'id', commission.attributionId);
  }
}
