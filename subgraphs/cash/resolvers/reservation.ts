import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { commitReservation, extendReservation, releaseReservation, reserveCash } from '../commands/reservation.js';
import { returnCash } from '../commands/returns.js';
import { ownInvoice, spendCash } from '../commands/spend.js';
import { CHECKOUTS, PAYERS, SPEND_READERS } from '../entities/access.js';
import { CashReservationStatus } from '../entities/enums.js';
import { CashLot } from '../entities/lot.js';
import { CashReservation } from '../entities/reservation.js';
import { CashSpend } from '../entities/spend.js';
import { CommitCashInput, ReserveCashInput, ReturnCashInput, SpendCashInput } from '../inputs/reservation.js';
import { lotsOfReservation, lotsOfSpend } from '../queries/lists.js';
import { reservationStateAt } from '../rules/reservations.js';
import { User } from '../stubs.js';

@Resolver(() => CashReservation)
export class ReservationResolver {
  @Access(CHECKOUTS)
  @Mutation(() => CashReservation, { description: 'Holds what a purchase may take, for 30 minutes; less than wanted where there is less.' })
  reserveCash(@Arg('input', () => ReserveCashInput) input: ReserveCashInput, @Ctx() ctx: Context): Promise<CashReservation> {
    return reserveCash(ctx, input);
  }

  @Access(CHECKOUTS)
  @Mutation(() => CashReservation, { description: 'Holds for 30 minutes from now, at most 8 days in all.' })
  extendCashReservation(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CashReservation> {
    return extendReservation(ctx, id);
  }

  @Access(CHECKOUTS)
  @Mutation(() => CashReservation, { description: 'Spends what is held, or a part of it; the rest goes back.' })
  commitCash(@Arg('input', () => CommitCashInput) input: CommitCashInput, @Ctx() ctx: Context): Promise<CashReservation> {
    return commitReservation(ctx, input);
  }

  @Access(CHECKOUTS)
  @Mutation(() => CashReservation, { description: 'Gives back what is held.' })
  releaseCash(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CashReservation> {
    return releaseReservation(ctx, id);
  }

  @Access(CHECKOUTS)
  @FieldResolver(() => CashReservationStatus, { description: 'At the instant of reading.' })
  status(@Root() reservation: CashReservation, @Ctx() ctx: Context): CashReservationStatus {
    return reservationStateAt(reservation, ctx.now());
  }

  @Access(CHECKOUTS)
  @FieldResolver(() => User)
  user(@Root() { userId }: CashReservation): User {
    return { id: userId };
  }

  @Access(CHECKOUTS)
  @FieldResolver(() => [CashLot], { description: 'In the order of spending.' })
  lots(@Root() { id }: CashReservation, @Ctx() ctx: Context): Promise<CashLot[]> {
    return lotsOfReservation(ctx, id);
  }

  @Access(CHECKOUTS)
  @FieldResolver(() => CashSpend, { nullable: true, description: 'Of one that was committed.' })
  spend(@Root() { spendId }: CashReservation, @Ctx() ctx: Context): Promise<CashSpend | null> | null {
    return spendId === null ? null : loadRow(ctx, CashSpend, 'id', spendId);
  }
}

@Resolver(() => CashSpend)
export class SpendResolver {
  @Prepare(ownInvoice)
  @Access({ ...PAYERS, self: true })
  @Mutation(() => CashSpend, { description: 'Spends an amount at once, all of it or nothing; of a member for an own invoice.' })
  spendCash(@Arg('input', () => SpendCashInput) input: SpendCashInput, @Ctx() ctx: Context): Promise<CashSpend> {
    return spendCash(ctx, input);
  }

  @Access(CHECKOUTS)
  @Mutation(() => CashSpend, { description: 'Gives back a part of a spend as new grants, one for each lot, once for each reference.' })
  returnCash(@Arg('input', () => ReturnCashInput) input: ReturnCashInput, @Ctx() ctx: Context): Promise<CashSpend> {
    return returnCash(ctx, input);
  }

  @Access(SPEND_READERS)
  @FieldResolver(() => User)
  user(@Root() { userId }: CashSpend): User {
    return { id: userId };
  }

  @Access(SPEND_READERS)
  @FieldResolver(() => [CashLot], { description: 'In the order of spending.' })
  lots(@Root() { id }: CashSpend, @Ctx() ctx: Context): Promise<CashLot[]> {
    return lotsOfSpend(ctx, id);
  }
}
