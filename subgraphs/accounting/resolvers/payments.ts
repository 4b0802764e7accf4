import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { TRANSACTION_VIEWERS } from '../entities/access.js';
import { LedgerTransaction } from '../entities/transaction.js';
import { ofPayment, ofPayout } from '../queries/transactions.js';
import { Payment, Payout } from '../stubs.js';

@Resolver(() => Payment)
export class PaymentLedgerResolver {
  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => [LedgerTransaction], {
    description: 'Its charge, what it has settled, refunds and disputes in the books, oldest first.',
  })
  ledgerTransactions(@Root() { id }: Payment, @Ctx() ctx: Context): Promise<LedgerTransaction[]> {
    return ofPayment(ctx, id);
  }
}

@Resolver(() => Payout)
export class PayoutLedgerResolver {
  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => LedgerTransaction, {
    nullable: true,
    description: 'What was reserved for it; `resolvedBy` says what became of that.',
  })
  ledgerTransaction(@Root() { id }: Payout, @Ctx() ctx: Context): Promise<LedgerTransaction | null> {
    return ofPayout(ctx, id);
  }
}
