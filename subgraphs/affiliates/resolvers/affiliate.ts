import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, reachesAll } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { apply, close, createLink, deleteLink, ownAffiliate, transition, updateAffiliate, updateOwn } from '../commands/affiliate.js';
import { enterCode } from '../commands/click.js';
import { limitClicks } from '../commands/click-limit.js';
import { brandHosts } from '../commands/program.js';
import { READERS, SEEN, SELF, SELF_WRITES, WRITERS } from '../entities/access.js';
import { Affiliate, AffiliateClickToken, AffiliateConnection, AffiliateEarnings, AffiliateLink } from '../entities/affiliate.js';
import { AffiliateProgram, CommissionTier } from '../entities/program.js';
import {
  AffiliatesArgs,
  ApplyAsAffiliateInput,
  CODE,
  CreateAffiliateLinkInput,
  RecordAffiliateClickInput,
  TransitionAffiliateInput,
  UpdateAffiliateInput,
  UpdateMyAffiliateInput,
} from '../inputs/affiliate.js';
import { hasDestination } from '../ports/payments.js';
import { affiliatesPage, earningsOf, idsByCode, linksOf, tiersOf } from '../queries/lists.js';
import { User } from '../stubs.js';

const PROGRAM = { nullable: true, description: 'Default: the oldest.' } as const;

@Resolver(() => Affiliate)
export class AffiliateResolver {
  @Prepare(brandHosts)
  @Access(SELF_WRITES)
  @Mutation(() => Affiliate, { description: 'Applies to a program, once.' })
  applyAsAffiliate(@Arg('input', () => ApplyAsAffiliateInput) input: ApplyAsAffiliateInput, @Ctx() ctx: Context): Promise<Affiliate> {
    return apply(ctx, input);
  }

  @Access(SELF)
  @Query(() => Affiliate, { description: 'Oneself as an affiliate.' })
  myAffiliate(
    @Rule({ pattern: UUID }) @Arg('programId', () => ID, PROGRAM) programId: string | null,
    @Ctx() ctx: Context,
  ): Promise<Affiliate> {
    return ownAffiliate(ctx, programId);
  }

  @Access(SELF_WRITES)
  @Mutation(() => Affiliate, { description: 'Changes the own code.' })
  updateMyAffiliate(@Arg('input', () => UpdateMyAffiliateInput) input: UpdateMyAffiliateInput, @Ctx() ctx: Context): Promise<Affiliate> {
    return updateOwn(ctx, input);
  }

  @Access(SELF_WRITES)
  @Mutation(() => Affiliate, { description: 'Ends oneself as an affiliate; what is owed is still paid.' })
  async closeMyAffiliate(
    @Rule({ pattern: UUID }) @Arg('programId', () => ID, PROGRAM) programId: string | null,
    @Ctx() ctx: Context,
  ): Promise<Affiliate> {
    return close(ctx, (await ownAffiliate(ctx, programId)).id);
  }

  @Access(READERS)
  @Query(() => AffiliateConnection, { description: 'Affiliates, newest first.' })
  affiliates(@Args(() => AffiliatesArgs) args: AffiliatesArgs, @Ctx() ctx: Context): Promise<Connection<Affiliate>> {
    return affiliatesPage(ctx, args);
  }

  @Access(READERS)
  @Query(() => Affiliate, { nullable: true })
  affiliate(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Affiliate | null> {
    return findRow(ctx, Affiliate, { id });
  }

  @Access({ internal: ['analytics', 'payments'] })
  @Query(() => [ID], { nullable: 'items', description: 'Affiliates by code, in the order of the codes; null for a code of nobody.' })
  affiliatesByCode(
    @Rule({ maxItems: 100, pattern: CODE }) @Arg('codes', () => [String]) codes: string[],
    @Ctx() ctx: Context,
  ): Promise<(string | null)[]> {
    return idsByCode(ctx, codes);
  }

  @Access(WRITERS)
  @Mutation(() => Affiliate, { description: 'Changes the code or the tier of an affiliate.' })
  updateAffiliate(@Arg('input', () => UpdateAffiliateInput) input: UpdateAffiliateInput, @Ctx() ctx: Context): Promise<Affiliate> {
    return updateAffiliate(ctx, input);
  }

  @Prepare(brandHosts)
  @Access(WRITERS)
  @Mutation(() => Affiliate, { description: 'Approves, rejects, suspends or restores an affiliate.' })
  transitionAffiliate(
    @Arg('input', () => TransitionAffiliateInput) { id, action }: TransitionAffiliateInput,
    @Ctx() ctx: Context,
  ): Promise<Affiliate> {
    return transition(ctx, id, action);
  }

  @Access(SEEN)
  @FieldResolver(() => User)
  user(@Root() { userId }: Affiliate): User {
    return { id: userId };
  }

  @Access(SEEN)
  @FieldResolver(() => AffiliateProgram)
  async program(@Root() { programId }: Affiliate, @Ctx() ctx: Context): Promise<AffiliateProgram> {
    return (await loadRow(ctx, AffiliateProgram, 'id', programId))!;
  }

  @Access(SEEN)
  @FieldResolver(() => CommissionTier)
  async tier(@Root() { programId, tierKey }: Affiliate, @Ctx() ctx: Context): Promise<CommissionTier> {
    const tiers = await tiersOf(ctx, programId);
    return tiers.find(({ key }) => key === tierKey) ?? tiers[0]!;
  }

  @Access(SEEN)
  @FieldResolver(() => [AffiliateLink], { description: 'Oldest first.' })
  links(@Root() { id }: Affiliate, @Ctx() ctx: Context): Promise<AffiliateLink[]> {
    return linksOf(ctx, id);
  }

  @Access(SEEN)
  @FieldResolver(() => Boolean, { description: 'Payments knows where to pay.' })
  payoutReady(@Root() { userId }: Affiliate, @Ctx() ctx: Context): Promise<boolean> {
    return ctx.inTransaction ? Promise.resolve(false) : hasDestination(ctx.host, userId);
  }

  @Access(SEEN)
  @FieldResolver(() => AffiliateEarnings)
  async earnings(@Root() { id, programId }: Affiliate, @Ctx() ctx: Context): Promise<AffiliateEarnings> {
    return earningsOf(ctx, id, (await loadRow(ctx, AffiliateProgram, 'id', programId))!.currency);
  }
}

@Resolver(() => AffiliateLink)
export class LinkResolver {
  @Access({ public: true })
  @Mutation(() => AffiliateClickToken, { description: 'A visit with a code, of an app; the token is to be sent after the sign-up.' })
  recordAffiliateClick(
    @Arg('input', () => RecordAffiliateClickInput) { code }: RecordAffiliateClickInput,
    @Ctx() ctx: Context,
  ): Promise<AffiliateClickToken> {
    limitClicks(ctx.host, ctx.request.ip);
    return enterCode(ctx, code);
  }

  @Prepare(brandHosts)
  @Access(SELF_WRITES)
  @Mutation(() => AffiliateLink, { description: 'Makes a link to a page of the brand.' })
  createAffiliateLink(
    @Arg('input', () => CreateAffiliateLinkInput) input: CreateAffiliateLinkInput,
    @Ctx() ctx: Context,
  ): Promise<AffiliateLink> {
    return createLink(ctx, input);
  }

  @Access(SELF_WRITES)
  @Mutation(() => AffiliateLink, { description: 'Lets a link lead nowhere.' })
  deleteAffiliateLink(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<AffiliateLink> {
    return deleteLink(ctx, id);
  }

  @Access(SEEN)
  @FieldResolver(() => Url)
  url(@Root() { slug }: AffiliateLink, @Ctx() ctx: Context): string {
    return `${ctx.host.config.baseUrl}/affiliates/v1/r/${slug}`;
  }
}

@Resolver(() => User)
export class UserAffiliateResolver {
  @Access(SEEN)
  @FieldResolver(() => Affiliate, {
    nullable: true,
    description: 'The user as an affiliate, of the oldest program; null for another user.',
  })
  async affiliate(@Root() { id }: User, @Ctx() ctx: Context): Promise<Affiliate | null> {
    const isOwn = ctx.caller.userId === id.toLowerCase();
    if (!isUuid(id) || (!reachesAll(SEEN, ctx.caller) && !isOwn)) return null;
    return ctx.load('affiliates.of.user', id.toLowerCase(), async ids => {
      const rows = await ctx.em.find(Affiliate, { userId: { $in: [...ids] } }, { orderBy: { createdAt: 'asc', id: 'asc' } });
      return ids.map(one => rows.find(row => row.userId === one) ?? null);
    });
  }
}
