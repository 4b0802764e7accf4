import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { monitorFailures } from '../commands/failure-monitor.js';
import { requestReconciliation } from '../commands/reconciliation.js';
import { BACK_OFFICE, staffWith } from '../entities/access.js';
import { FailureReport, FinanceOverview } from '../entities/operations.js';
import { ReconciliationDiscrepancy, ReconciliationDiscrepancyConnection, ReconciliationRun } from '../entities/reconciliation.js';
import {
  DiscrepanciesArgs,
  FinanceOverviewArgs,
  MonitorPaymentFailuresInput,
  ReconcileProcessorStorefrontInput,
} from '../inputs/operations.js';
import { financeOverview } from '../queries/finance.js';

@Resolver(() => ReconciliationRun)
export class ReconciliationResolver {
  @Access(staffWith('reconcile'))
  @Mutation(() => ReconciliationRun, { description: 'Compares processor, payments, shop and books of a period; changes nothing.' })
  reconcileProcessorStorefront(
    @Arg('input', () => ReconcileProcessorStorefrontInput) input: ReconcileProcessorStorefrontInput,
    @Ctx() ctx: Context,
  ): Promise<ReconciliationRun> {
    return requestReconciliation(ctx, input);
  }

  @Access(staffWith('reconcile'))
  @Query(() => ReconciliationRun, { nullable: true })
  reconciliationRun(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ReconciliationRun | null> {
    return findRow(ctx, ReconciliationRun, { id });
  }

  @Access(BACK_OFFICE)
  @FieldResolver(() => ReconciliationDiscrepancyConnection)
  discrepancies(
    @Root() { id: runId }: ReconciliationRun,
    @Args(() => DiscrepanciesArgs) { kind, ...paging }: DiscrepanciesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ReconciliationDiscrepancy>> {
    return page(ctx.em, ReconciliationDiscrepancy, { runId, ...(kind && { kind }) }, paging, { time: 'detectedAt', direction: 'asc' });
  }

  @Access(staffWith('monitor'))
  @OwnTransactions('it counts, and one alert stands for a breach')
  @Mutation(() => FailureReport, { description: 'Counts how many attempts fail, and looks after those without an answer.' })
  monitorPaymentFailures(
    @Arg('input', () => MonitorPaymentFailuresInput) input: MonitorPaymentFailuresInput,
    @Ctx() ctx: Context,
  ): Promise<FailureReport> {
    return monitorFailures(ctx.host, input);
  }

  @Access(staffWith('read'))
  @Query(() => FinanceOverview, { description: 'The money of a period in one currency, and what waits for somebody.' })
  financeOverview(@Args(() => FinanceOverviewArgs) args: FinanceOverviewArgs, @Ctx() ctx: Context): Promise<FinanceOverview> {
    return financeOverview(ctx, args);
  }
}
