import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { CurrencyCode, DateTime } from '../../../runtime/schema/scalars.js';
import { closePeriod, periods, sealFirst } from '../commands/periods.js';
import { rebuildBalances } from '../commands/rebuild.js';
import { CLOSERS, READERS, REPAIRERS, REPORTERS } from '../entities/access.js';
import { AccountingPeriod } from '../entities/period.js';
import {
  BalanceExplanation,
  BalanceRebuild,
  BalanceSheet,
  ClearingException,
  IncomeStatement,
  PostingPreview,
  PostingRuleView,
  TrialBalance,
} from '../entities/report.js';
import { PreviewPostingInput, ReportTimeArgs } from '../inputs/report.js';
import { clearingExceptions, explainBalance } from '../queries/explanations.js';
import { postingRules, previewPosting } from '../queries/posting-rules.js';
import { balanceSheet, incomeStatement, trialBalance } from '../queries/reports.js';

@Resolver()
export class ReportResolver {
  @Access(REPORTERS)
  @Query(() => TrialBalance, { description: 'From entries, not from the cached totals.' })
  trialBalance(
    @Arg('asOf', () => DateTime, { nullable: true, description: 'Default: now.' }) asOf: Date | null,
    @Arg('currency', () => CurrencyCode) currency: string,
    @Ctx() ctx: Context,
  ): Promise<TrialBalance> {
    return trialBalance(ctx, asOf, currency);
  }

  @Access(REPORTERS)
  @Query(() => IncomeStatement)
  incomeStatement(@Args(() => ReportTimeArgs) { from, to }: ReportTimeArgs, @Ctx() ctx: Context): Promise<IncomeStatement> {
    return incomeStatement(ctx, from, to);
  }

  @Access(REPORTERS)
  @Query(() => BalanceSheet)
  balanceSheet(
    @Arg('asOf', () => DateTime, { nullable: true, description: 'Default: now.' }) asOf: Date | null,
    @Ctx() ctx: Context,
  ): Promise<BalanceSheet> {
    return balanceSheet(ctx, asOf);
  }

  @Access(REPORTERS)
  @Query(() => BalanceExplanation, { nullable: true, description: 'The smallest list of sources that make up a balance.' })
  explainBalance(
    @Arg('accountId', () => ID) accountId: string,
    @Arg('at', () => DateTime, { nullable: true, description: 'Default: now.' }) at: Date | null,
    @Ctx() ctx: Context,
  ): Promise<BalanceExplanation | null> {
    return explainBalance(ctx, accountId, at);
  }

  @Access(REPORTERS)
  @Query(() => [ClearingException], { description: 'Flows through clearing accounts that are older than 24 hours, oldest first.' })
  clearingExceptions(@Ctx() ctx: Context): Promise<ClearingException[]> {
    return clearingExceptions(ctx);
  }

  @Access(CLOSERS)
  @Query(() => [AccountingPeriod], { description: 'Months, oldest first.' })
  accountingPeriods(@Ctx() ctx: Context): Promise<AccountingPeriod[]> {
    return periods(ctx);
  }

  @Access(CLOSERS)
  @Prepare(sealFirst)
  @Mutation(() => AccountingPeriod, { description: 'Closes a month for good; the one before it must be closed.' })
  closeAccountingPeriod(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<AccountingPeriod> {
    return closePeriod(ctx, id);
  }

  @Access(READERS)
  @Query(() => [PostingRuleView], { description: 'How events are booked, every version.' })
  postingRules(@Ctx() ctx: Context): Promise<PostingRuleView[]> {
    return postingRules(ctx);
  }

  @Access(READERS)
  @Query(() => PostingPreview, { description: 'The entries that an event would make.' })
  previewPosting(@Arg('input', () => PreviewPostingInput) input: PreviewPostingInput, @Ctx() ctx: Context): Promise<PostingPreview> {
    return previewPosting(ctx, input);
  }

  @Access(REPAIRERS)
  @Mutation(() => BalanceRebuild, {
    description: 'Compares cached balances with their entries, and puts them right unless it is a dry run.',
  })
  rebuildBalances(@Arg('dryRun', () => Boolean, { defaultValue: true }) dryRun: boolean, @Ctx() ctx: Context): Promise<BalanceRebuild> {
    return rebuildBalances(ctx, dryRun);
  }
}
