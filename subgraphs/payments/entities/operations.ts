import { Field, ID, Int, ObjectType } from 'type-graphql';
import { CurrencyCode, DateTime, Money } from '../../../runtime/schema/scalars.js';
import { Access } from '../../../runtime/access/access.js';
import { BACK_OFFICE } from './access.js';
import { FailureGroup, ProcessorEventStatus, SandboxAction } from './enums-operations.js';
import { Payment } from './payment.js';
import { ReconciliationRun } from './reconciliation.js';

@Access(BACK_OFFICE)
@ObjectType({ description: 'A webhook that was handled again.' })
export class ReplayedEvent {
  @Field(() => ID)
  id: string;

  @Field(() => ProcessorEventStatus)
  status: ProcessorEventStatus;
}

@Access(BACK_OFFICE)
@ObjectType({ description: 'What became of a replay.' })
export class ReplayResult {
  @Field(() => Int)
  matched: number;

  @Field(() => Int, { description: 'Handled, and something changed.' })
  replayed: number;

  @Field(() => Int)
  unchanged: number;

  @Field(() => Int)
  failed: number;

  @Field(() => [ReplayedEvent])
  events: ReplayedEvent[];
}

@Access(BACK_OFFICE)
@ObjectType({ description: 'What a partner said of a charge, and whether it was news.' })
export class TelehealthSyncResult {
  @Field(() => Payment)
  payment: Payment;

  @Field(() => Boolean)
  applied: boolean;

  @Field(() => String, { nullable: true, description: '`stale`: it is known already, or something later is.' })
  reason: string | null;
}

@Access(BACK_OFFICE)
@ObjectType({ description: 'What was done in the place of customer, bank or processor.' })
export class SandboxActionResult {
  @Field(() => SandboxAction)
  action: SandboxAction;

  @Field(() => ID, { nullable: true })
  paymentId: string | null;
}

@ObjectType({ description: 'From (inclusive) to (exclusive).' })
export class FailureWindow {
  @Field(() => DateTime)
  from: Date;

  @Field(() => DateTime)
  to: Date;
}

@ObjectType({ description: 'Failures with something in common.' })
export class FailureCount {
  @Field(() => FailureGroup)
  key: FailureGroup;

  @Field(() => String)
  value: string;

  @Field(() => Int)
  failures: number;
}

@ObjectType({ description: 'A payment whose outcome was not known, and what was found out.' })
export class ResolvedPayment {
  @Field(() => ID)
  paymentId: string;

  @Field(() => DateTime)
  since: Date;

  @Field(() => String, { nullable: true, description: 'Null: still not known.' })
  resolvedTo: string | null;
}

@Access(BACK_OFFICE)
@ObjectType({ description: 'How many attempts fail, and whether more than before.' })
export class FailureReport {
  @Field(() => FailureWindow)
  window: FailureWindow;

  @Field(() => Int)
  attempts: number;

  @Field(() => Int)
  failures: number;

  @Field(() => Int)
  failureRateBps: number;

  @Field(() => Int, { description: 'Of the seven days before the window.' })
  baselineRateBps: number;

  @Field(() => Boolean)
  breached: boolean;

  @Field(() => [FailureCount])
  groups: FailureCount[];

  @Field(() => [ResolvedPayment])
  stuck: ResolvedPayment[];

  @Field(() => Int)
  webhookLagSeconds: number;

  @Field(() => ID, { nullable: true, description: 'The same one while the breach lasts.' })
  alertId: string | null;
}

@Access(BACK_OFFICE)
@ObjectType({ description: 'A payment that waits for its processor.' })
export class StuckPayment {
  @Field(() => Payment)
  payment: Payment;

  @Field(() => DateTime)
  since: Date;

  @Field(() => Int)
  attempts: number;

  @Field(() => DateTime, { nullable: true })
  nextLookAt: Date | null;
}

@Access(BACK_OFFICE)
@ObjectType({ description: 'The money of a period in one currency, and what waits for somebody.' })
export class FinanceOverview {
  @Field(() => CurrencyCode)
  currency: string;

  @Field(() => DateTime)
  from: Date;

  @Field(() => DateTime)
  to: Date;

  @Field(() => Money)
  charged: Money;

  @Field(() => Money)
  fees: Money;

  @Field(() => Money)
  refunded: Money;

  @Field(() => Money)
  disputed: Money;

  @Field(() => Money)
  paidOut: Money;

  @Field(() => Money, { description: 'Due on open invoices.' })
  outstanding: Money;

  @Field(() => Int)
  pastDueInvoices: number;

  @Field(() => Int)
  openDisputes: number;

  @Field(() => Int)
  refundsToApprove: number;

  @Field(() => Int)
  payoutsToApprove: number;

  @Field(() => [StuckPayment])
  stuckPayments: StuckPayment[];

  @Field(() => Int)
  deadProcessorEvents: number;

  @Field(() => Int)
  webhookLagSeconds: number;

  @Field(() => ReconciliationRun, { nullable: true })
  lastReconciliation: ReconciliationRun | null;
}
