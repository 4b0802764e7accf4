import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { Money } from '../../../runtime/schema/scalars.js';
import { WALLET_READERS } from '../entities/access.js';
import { LedgerAccount } from '../entities/account.js';
import { LedgerEntry, LedgerEntryConnection } from '../entities/transaction.js';
import { Wallet } from '../entities/wallet.js';
import { entriesPage } from '../queries/entries.js';
import { walletsBy, walletsOf, type FullWallet } from '../queries/wallets.js';
import { User } from '../stubs.js';

@Resolver(() => Wallet)
export class WalletResolver {
  @Access({ user: 'read:cash_balance' })
  @Query(() => [Wallet], { description: "The caller's own." })
  myWallets(@Ctx() ctx: Context): Promise<FullWallet[]> {
    return walletsOf(ctx, [ctx.caller.userId!]);
  }

  @Access({ ...WALLET_READERS, self: true })
  @Query(() => [Wallet])
  wallets(
    @Rule({ pattern: UUID })
    @Arg('userId', () => ID, { nullable: true, description: 'Required for service tokens.' })
    userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<FullWallet[]> {
    return walletsOf(ctx, [ctx.subject(userId, '/userId')]);
  }

  @Access(WALLET_READERS)
  @Query(() => Wallet, { nullable: true })
  async wallet(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<FullWallet | null> {
    return (await walletsBy(ctx, [id]))[0]!;
  }

  @Access(WALLET_READERS)
  @FieldResolver(() => LedgerAccount)
  account(@Root() { account }: FullWallet): LedgerAccount {
    return account;
  }

  @Access(WALLET_READERS)
  @FieldResolver(() => Money)
  balance(@Root() { account }: FullWallet): Money {
    return account.balance;
  }

  @Access(WALLET_READERS)
  @FieldResolver(() => Money, { description: 'The balance less what is pending.' })
  available(@Root() { account }: FullWallet): Money {
    return account.available;
  }

  @Access(WALLET_READERS)
  @FieldResolver(() => Money, { description: 'What is reserved by pending transactions.' })
  pending(@Root() { account }: FullWallet): Money {
    return { amount: account.pendingDebits, currency: account.currency };
  }

  @Access(WALLET_READERS)
  @FieldResolver(() => LedgerEntryConnection, { description: 'Newest first.' })
  entries(@Root() { accountId }: FullWallet, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<LedgerEntry>> {
    return entriesPage(ctx, accountId, args);
  }

  @Access(WALLET_READERS)
  @FieldResolver(() => User)
  user(@Root() { userId }: FullWallet): User {
    return { id: userId };
  }
}

@Resolver(() => User)
export class UserWalletsResolver {
  @Access(WALLET_READERS)
  @FieldResolver(() => [Wallet])
  async wallets(@Root() { id }: User, @Ctx() ctx: Context): Promise<FullWallet[]> {
    if (ctx.caller.kind === 'user' && ctx.caller.userId !== id) return [];
    const found = await ctx.load('wallets of user', id, async ids => {
      const byUser = Map.groupBy(await walletsOf(ctx, ids), wallet => wallet.userId);
      return ids.map(userId => byUser.get(userId.toLowerCase()) ?? []);
    });
    return found!;
  }
}
