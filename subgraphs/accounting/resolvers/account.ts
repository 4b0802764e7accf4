import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { openAccount, updateAccount } from '../commands/account.js';
import { ACCOUNT_READERS, ACCOUNT_VIEWERS, ACCOUNT_WRITERS } from '../entities/access.js';
import { LedgerAccount, LedgerAccountConnection } from '../entities/account.js';
import { LedgerBalance } from '../entities/report.js';
import { LedgerEntry, LedgerEntryConnection } from '../entities/transaction.js';
import { EntriesArgs, LedgerAccountsArgs, OpenLedgerAccountInput, UpdateLedgerAccountInput } from '../inputs/account.js';
import { accountsPage, balanceAt, findAccount } from '../queries/accounts.js';
import { entriesPage } from '../queries/entries.js';
import { User } from '../stubs.js';

@Resolver(() => LedgerAccount)
export class AccountResolver {
  @Access(ACCOUNT_READERS)
  @Query(() => LedgerAccountConnection, { description: 'Accounts, newest first.' })
  ledgerAccounts(@Args(() => LedgerAccountsArgs) args: LedgerAccountsArgs, @Ctx() ctx: Context): Promise<Connection<LedgerAccount>> {
    return accountsPage(ctx, args);
  }

  @Access(ACCOUNT_READERS)
  @Query(() => LedgerAccount, { nullable: true })
  ledgerAccount(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LedgerAccount | null> {
    return findAccount(ctx, id);
  }

  @Access(ACCOUNT_WRITERS)
  @Mutation(() => LedgerAccount, { description: 'Opens an account of the house; those of users are opened by their first use.' })
  openLedgerAccount(
    @Arg('input', () => OpenLedgerAccountInput) input: OpenLedgerAccountInput,
    @Ctx() ctx: Context,
  ): Promise<LedgerAccount> {
    return openAccount(ctx, input);
  }

  @Access(ACCOUNT_WRITERS)
  @Mutation(() => LedgerAccount, { description: 'Changes name, status or floor. Closing is final, and for empty accounts.' })
  updateLedgerAccount(
    @Arg('input', () => UpdateLedgerAccountInput) input: UpdateLedgerAccountInput,
    @Ctx() ctx: Context,
  ): Promise<LedgerAccount> {
    return updateAccount(ctx, input);
  }

  @Access(ACCOUNT_VIEWERS)
  @FieldResolver(() => Money, { description: 'From entries that were effective by then.' })
  async balanceAt(@Root() account: LedgerAccount, @Arg('at', () => DateTime) at: Date, @Ctx() ctx: Context): Promise<Money> {
    return (await balanceAt(ctx, account, at)).balance;
  }

  @Access(ACCOUNT_VIEWERS)
  @FieldResolver(() => LedgerBalance, { description: 'The balance with its instant.' })
  balanceReport(
    @Root() account: LedgerAccount,
    @Arg('at', () => DateTime, { nullable: true, description: 'Default: now.' }) at: Date | null,
    @Ctx() ctx: Context,
  ): Promise<LedgerBalance> {
    return balanceAt(ctx, account, at ?? ctx.now());
  }

  @Access(ACCOUNT_VIEWERS)
  @FieldResolver(() => LedgerEntryConnection, { description: 'Posted entries in the order of the running balance, newest first.' })
  entries(
    @Root() { id }: LedgerAccount,
    @Args(() => EntriesArgs) args: EntriesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LedgerEntry>> {
    return entriesPage(ctx, id, args);
  }

  @Access(ACCOUNT_VIEWERS)
  @FieldResolver(() => User, { nullable: true })
  user(@Root() { userId }: LedgerAccount): User | null {
    return userId === null ? null : { id: userId };
  }
}
