import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { SafeInt } from '../../../runtime/schema/scalars.js';
import { findRow } from '../../../runtime/data/rows.js';
import { postTransaction, postTransactions } from '../commands/posting.js';
import { resolvePending, reverseTransaction } from '../commands/resolution.js';
import { ACCOUNT_VIEWERS, POSTERS, READERS, REVERSERS, TRANSACTION_VIEWERS } from '../entities/access.js';
import { LedgerAccount } from '../entities/account.js';
import { LedgerTransactionStatus } from '../entities/enums.js';
import { LedgerEntry, LedgerPostResult, LedgerTransaction, LedgerTransactionConnection } from '../entities/transaction.js';
import {
  LedgerTransactionsArgs,
  PostLedgerTransactionInput,
  PostLedgerTransactionsInput,
  ResolvePendingLedgerTransactionInput,
  ReverseLedgerTransactionInput,
} from '../inputs/transaction.js';
import { loadAccount } from '../queries/accounts.js';
import { loadEntries } from '../queries/entries.js';
import { loadSeal, loadTransaction, resolvedBy, reversedBy, statusOf, transactionsPage } from '../queries/transactions.js';
import { User } from '../stubs.js';

const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

@Resolver(() => LedgerTransaction)
export class TransactionResolver {
  @Access(POSTERS)
  @OwnTransactions('the same source is answered with its first transaction')
  @Mutation(() => LedgerTransaction, { description: 'Books a fact, once: the same source again is answered with the first transaction.' })
  postLedgerTransaction(
    @Arg('input', () => PostLedgerTransactionInput) input: PostLedgerTransactionInput,
    @Ctx() ctx: Context,
  ): Promise<LedgerTransaction> {
    return postTransaction(ctx, input);
  }

  @Access(POSTERS)
  @OwnTransactions('the same sources are answered with their first transactions')
  @Mutation(() => [LedgerPostResult], {
    description: 'Books up to 500 facts, all or none, or each on its own; the answers have their order.',
  })
  postLedgerTransactions(
    @Arg('input', () => PostLedgerTransactionsInput) input: PostLedgerTransactionsInput,
    @Ctx() ctx: Context,
  ): Promise<LedgerPostResult[]> {
    return postTransactions(ctx, input);
  }

  @Access(POSTERS)
  @Mutation(() => LedgerTransaction, { description: 'Posts or voids a pending transaction; what is not posted of it is released.' })
  resolvePendingLedgerTransaction(
    @Arg('input', () => ResolvePendingLedgerTransactionInput) input: ResolvePendingLedgerTransactionInput,
    @Ctx() ctx: Context,
  ): Promise<LedgerTransaction> {
    return resolvePending(ctx, input);
  }

  @Access(REVERSERS)
  @Mutation(() => LedgerTransaction, { description: 'Books the opposite of a transaction, once. A reversal is not reversed.' })
  reverseLedgerTransaction(
    @Arg('input', () => ReverseLedgerTransactionInput) input: ReverseLedgerTransactionInput,
    @Ctx() ctx: Context,
  ): Promise<LedgerTransaction> {
    return reverseTransaction(ctx, input);
  }

  @Access(READERS)
  @Query(() => LedgerTransactionConnection, { description: 'Transactions, newest first.' })
  ledgerTransactions(
    @Args(() => LedgerTransactionsArgs) args: LedgerTransactionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LedgerTransaction>> {
    return transactionsPage(ctx, args);
  }

  @Access(READERS)
  @Query(() => LedgerTransaction, { nullable: true })
  ledgerTransaction(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LedgerTransaction | null> {
    return findRow(ctx, LedgerTransaction, { id });
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => LedgerTransactionStatus)
  status(@Root() transaction: LedgerTransaction, @Ctx() ctx: Context): Promise<LedgerTransactionStatus> {
    return statusOf(ctx, transaction);
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => [LedgerEntry], { description: 'In line order.' })
  entries(@Root() { id }: LedgerTransaction, @Ctx() ctx: Context): Promise<LedgerEntry[]> {
    return loadEntries(ctx, id);
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => LedgerTransaction, { nullable: true, description: 'The pending transaction that it resolves.' })
  pendingOf(@Root() { pendingId }: LedgerTransaction, @Ctx() ctx: Context): Promise<LedgerTransaction | null> {
    return loadTransaction(ctx, pendingId);
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => LedgerTransaction, { nullable: true })
  resolvedBy(@Root() transaction: LedgerTransaction, @Ctx() ctx: Context): Promise<LedgerTransaction | null> {
    return resolvedBy(ctx, transaction);
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => LedgerTransaction, { nullable: true })
  reverses(@Root() { reversesId }: LedgerTransaction, @Ctx() ctx: Context): Promise<LedgerTransaction | null> {
    return loadTransaction(ctx, reversesId);
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => LedgerTransaction, { nullable: true })
  reversedBy(@Root() transaction: LedgerTransaction, @Ctx() ctx: Context): Promise<LedgerTransaction | null> {
    return reversedBy(ctx, transaction);
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => User, { nullable: true })
  user(@Root() { userId }: LedgerTransaction): User | null {
    return userId === null ? null : { id: userId };
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => SafeInt, { nullable: true, description: 'Place in the chain; null until it is sealed.' })
  async sequence(@Root() { id }: LedgerTransaction, @Ctx() ctx: Context): Promise<number | null> {
    return number((await loadSeal(ctx, id))?.sequence);
  }

  @Access(TRANSACTION_VIEWERS)
  @FieldResolver(() => SafeInt, { nullable: true })
  async blockHeight(@Root() { id }: LedgerTransaction, @Ctx() ctx: Context): Promise<number | null> {
    return number((await loadSeal(ctx, id))?.height);
  }
}

@Resolver(() => LedgerEntry)
export class EntryResolver {
  @Access(ACCOUNT_VIEWERS)
  @FieldResolver(() => LedgerAccount)
  account(@Root() { accountId }: LedgerEntry, @Ctx() ctx: Context): Promise<LedgerAccount> {
    return loadAccount(ctx, accountId);
  }
}
