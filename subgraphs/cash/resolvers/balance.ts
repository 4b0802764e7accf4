import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CurrencyCode } from '../../../runtime/schema/scalars.js';
import { HOLDERS } from '../entities/access.js';
import { CashBalance, CashUsePreview } from '../entities/balance.js';
import { CashGrant, CashGrantConnection } from '../entities/grant.js';
import { CashMovement, CashMovementConnection } from '../entities/movement.js';
import { CashMovementsArgs, PreviewCashUseInput } from '../inputs/reservation.js';
import { balanceOf, loadBalance, previewUse } from '../queries/balance.js';
import { grantsPage, movementsPage } from '../queries/lists.js';
import { subjectOf } from '../queries/subject.js';
import { User } from '../stubs.js';

const CURRENCY = { nullable: true, description: 'Default: that of the oldest cash, else USD.' } as const;

@Resolver(() => CashBalance)
export class BalanceResolver {
  @Access({ user: HOLDERS.user })
  @Query(() => CashBalance, { description: 'The own cash in one currency, as of now.' })
  myCash(@Arg('currency', () => CurrencyCode, CURRENCY) currency: string | null, @Ctx() ctx: Context): Promise<CashBalance> {
    return balanceOf(ctx, subjectOf(ctx, null), currency ?? null);
  }

  @Access({ ...HOLDERS, self: true })
  @Query(() => CashBalance, { description: 'The cash of a user in one currency, as of now.' })
  cash(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true, description: 'Default: the caller.' }) userId: string | null,
    @Arg('currency', () => CurrencyCode, CURRENCY) currency: string | null,
    @Ctx() ctx: Context,
  ): Promise<CashBalance> {
    return balanceOf(ctx, subjectOf(ctx, userId), currency ?? null);
  }

  @Access({ ...HOLDERS, self: true })
  @Query(() => CashMovementConnection, { description: 'What has changed the cash of a user, newest first.' })
  cashMovements(
    @Args(() => CashMovementsArgs) { userId, ...args }: CashMovementsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CashMovement>> {
    return movementsPage(ctx, subjectOf(ctx, userId), args);
  }

  @Access({ ...HOLDERS, self: true })
  @Query(() => CashUsePreview, { description: 'What a purchase would take, and what would expire unused in the next 30 days.' })
  previewCashUse(
    @Arg('input', () => PreviewCashUseInput) { userId, purchase }: PreviewCashUseInput,
    @Ctx() ctx: Context,
  ): Promise<CashUsePreview> {
    const { amount: subtotal, currency } = purchase.subtotal;
    return previewUse(ctx, subjectOf(ctx, userId, '/input/userId'), currency, { subtotal, subjectKinds: purchase.subjectKinds });
  }

  @FieldResolver(() => User)
  user(@Root() { userId }: CashBalance): User {
    return { id: userId };
  }

  @FieldResolver(() => CashGrantConnection, { description: 'Of all currencies, soonest expiry first.' })
  grants(@Root() { userId }: CashBalance, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<CashGrant>> {
    return grantsPage(ctx, userId, args);
  }
}

@Resolver(() => User)
export class UserCashResolver {
  @Access(HOLDERS)
  @FieldResolver(() => CashBalance, { nullable: true, description: 'Cash in one currency, as of now; null for another user.' })
  async cash(
    @Root() { id }: User,
    @Arg('currency', () => CurrencyCode, CURRENCY) currency: string | null,
    @Ctx() ctx: Context,
  ): Promise<CashBalance | null> {
    const mayAsk = ctx.caller.kind !== 'user' || ctx.caller.userId === id.toLowerCase();
    return isUuid(id) && mayAsk ? loadBalance(ctx, id.toLowerCase(), currency ?? null) : null;
  }
}
