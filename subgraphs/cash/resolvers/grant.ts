import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Money } from '../../../runtime/schema/scalars.js';
import { grantBulk } from '../commands/bulk.js';
import { grantCash, revokeGrant } from '../commands/grant.js';
import { expireCash } from '../commands/sweep.js';
import { BULK_GIVERS, EXPIRERS, GIVERS, HOLDERS, SEEN_BY_GIVERS } from '../entities/access.js';
import { CashExpiryRun } from '../entities/balance.js';
import { CashBulkGrant, CashBulkGrantResult, CashBulkGrantResultConnection } from '../entities/bulk.js';
import { CashGrantStatus } from '../entities/enums.js';
import { CashGrant, CashGrantConnection } from '../entities/grant.js';
import { CashGrantsArgs, ExpireCashInput, GrantCashBulkInput, GrantCashInput, RevokeCashGrantInput } from '../inputs/grant.js';
import { grantsPage, resultsPage } from '../queries/lists.js';
import { subjectOf } from '../queries/subject.js';
import { isUsable, stateAt } from '../rules/lots.js';
import { User } from '../stubs.js';

@Resolver(() => CashGrant)
export class GrantResolver {
  @Access({ ...HOLDERS, self: true })
  @Query(() => CashGrantConnection, { description: 'Grants of a user, soonest expiry first.' })
  cashGrants(@Args(() => CashGrantsArgs) { userId, ...args }: CashGrantsArgs, @Ctx() ctx: Context): Promise<Connection<CashGrant>> {
    return grantsPage(ctx, subjectOf(ctx, userId), args);
  }

  @Access(GIVERS)
  @Mutation(() => CashGrant, { description: 'Gives cash to a user, once for each source and reference.' })
  grantCash(@Arg('input', () => GrantCashInput) input: GrantCashInput, @Ctx() ctx: Context): Promise<CashGrant> {
    return grantCash(ctx, input);
  }

  @Access(GIVERS)
  @Mutation(() => CashGrant, { description: 'Takes a grant back as far as it is not spent.' })
  revokeCashGrant(@Arg('input', () => RevokeCashGrantInput) input: RevokeCashGrantInput, @Ctx() ctx: Context): Promise<CashGrant> {
    return revokeGrant(ctx, input);
  }

  @OwnTransactions('what has expired does not expire again')
  @Access(EXPIRERS)
  @Mutation(() => CashExpiryRun, { description: 'Expires what is due, without waiting for the sweep.' })
  expireCash(@Arg('input', () => ExpireCashInput) input: ExpireCashInput, @Ctx() ctx: Context): Promise<CashExpiryRun> {
    return expireCash(ctx, input);
  }

  @Access(SEEN_BY_GIVERS)
  @FieldResolver(() => CashGrantStatus, { description: 'At the instant of reading.' })
  status(@Root() grant: CashGrant, @Ctx() ctx: Context): CashGrantStatus {
    return stateAt(grant, ctx.now());
  }

  @Access(SEEN_BY_GIVERS)
  @FieldResolver(() => Money, { description: 'What can be spent of it, once it is active; without what is reserved.' })
  remaining(@Root() grant: CashGrant, @Ctx() ctx: Context): Money {
    const isLeft = isUsable(grant, ctx.now()) || stateAt(grant, ctx.now()) === CashGrantStatus.SCHEDULED;
    return { amount: isLeft ? grant.left : 0, currency: grant.currency };
  }

  @Access(SEEN_BY_GIVERS)
  @FieldResolver(() => User)
  user(@Root() { userId }: CashGrant): User {
    return { id: userId };
  }
}

@Resolver(() => CashBulkGrant)
export class BulkGrantResolver {
  @Access(BULK_GIVERS)
  @Query(() => CashBulkGrant, { nullable: true, description: 'A campaign.' })
  cashBulkGrant(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CashBulkGrant | null> {
    return findRow(ctx, CashBulkGrant, { id });
  }

  @Access(BULK_GIVERS)
  @Mutation(() => CashBulkGrant, {
    description: 'Gives the same to many users; each gets one grant of a campaign, however often it is asked for.',
  })
  grantCashBulk(@Arg('input', () => GrantCashBulkInput) input: GrantCashBulkInput, @Ctx() ctx: Context): Promise<CashBulkGrant> {
    return grantBulk(ctx, input);
  }

  @Access(BULK_GIVERS)
  @FieldResolver(() => CashBulkGrantResultConnection, { description: 'What became of each user.' })
  results(
    @Root() { id }: CashBulkGrant,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CashBulkGrantResult>> {
    return resultsPage(ctx, id, args);
  }
}
