import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CurrencyCode, DateTime, MoneyInput, SafeInt } from '../../../runtime/schema/scalars.js';
import {
  FailureGroup,
  PartnerChargeStatus,
  ProcessorEventStatus,
  ReconciliationDiscrepancyKind,
  SandboxAction,
} from '../entities/enums-operations.js';

const MONTH_LIMIT = 'At most 31 days after `from`.';

@ArgsType()
export class ProcessorEventsArgs extends PageArgs {
  @Field(() => ProcessorEventStatus, { nullable: true })
  status?: ProcessorEventStatus | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true })
  type?: string | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;
}

@InputType({ description: 'Either `eventIds`, or a period.' })
export class ReplayProcessorEventsInput {
  @Rule({ minItems: 1, maxItems: 500, pattern: UUID })
  @Field(() => [ID], { nullable: true })
  eventIds?: string[] | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;

  @Rule({ maxItems: 50, maxLength: 100 })
  @Field(() => [String], { defaultValue: [], description: 'Empty: all.' })
  types: string[];

  @Field(() => Boolean, { defaultValue: true })
  onlyFailed: boolean = true;

  @Field(() => Boolean, { defaultValue: false })
  dryRun: boolean = false;
}

@InputType()
export class ReconcileProcessorStorefrontInput {
  @Field(() => DateTime, { nullable: true, description: 'Default: 24 hours before `to`.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: `Default: now. ${MONTH_LIMIT}` })
  to?: Date | null;

  @Field(() => CurrencyCode, { nullable: true, description: 'Of the totals, and the only one compared where it is given.' })
  currency?: string | null;

  @Field(() => Boolean, { defaultValue: true })
  includeLedger: boolean = true;
}

@ArgsType()
export class DiscrepanciesArgs extends PageArgs {
  @Field(() => ReconciliationDiscrepancyKind, { nullable: true })
  kind?: ReconciliationDiscrepancyKind | null;
}

@InputType()
export class MonitorPaymentFailuresInput {
  @Rule({ min: 1, max: 10_080 })
  @Field(() => Int, { defaultValue: 60 })
  windowMinutes: number = 60;

  @Rule({ min: 1, max: 1_000_000 })
  @Field(() => Int, { defaultValue: 20, description: 'Fewer attempts tell nothing.' })
  minAttempts: number = 20;

  @Rule({ min: 1, max: 10_000 })
  @Field(() => Int, { defaultValue: 1500, description: 'Failures per 10,000 attempts.' })
  thresholdBps: number = 1500;

  @Rule({ maxItems: 3 })
  @Field(() => [FailureGroup], { defaultValue: [FailureGroup.DECLINE_CODE] })
  groupBy: FailureGroup[];

  @Field(() => Boolean, { defaultValue: false, description: 'Asks the processor for attempts whose outcome is not known.' })
  resolveStuck: boolean = false;
}

@InputType()
export class SyncTelehealthChargeInput {
  @Rule({ pattern: '^[A-Za-z0-9:._-]{1,200}$' })
  @Field(() => String)
  partnerChargeId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => PartnerChargeStatus)
  status: PartnerChargeStatus;

  @Field(() => MoneyInput, { description: 'Of a refund: all that has gone back so far.' })
  amount: MoneyInput;

  @Field(() => DateTime)
  occurredAt: Date;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  consultId?: string | null;
}

@InputType()
export class SandboxActionInput {
  @Field(() => SandboxAction)
  action: SandboxAction;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Payment, or payout for PAYOUT_FAIL; default: the last one.' })
  paymentId?: string | null;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Minor units; default: all that is left. SETTLE_REFUND with 0: it fails.' })
  amount?: number | null;
}

@ArgsType()
export class FinanceOverviewArgs {
  @Field(() => DateTime, { nullable: true, description: 'Default: 24 hours before `to`.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  to?: Date | null;

  @Field(() => CurrencyCode, { defaultValue: 'USD' })
  currency: string = 'USD';
}
