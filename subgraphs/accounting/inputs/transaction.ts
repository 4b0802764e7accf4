import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject, MoneyInput, SafeInt } from '../../../runtime/schema/scalars.js';
import { EntryDirection, LedgerPendingAction, LedgerTransactionStatus } from '../entities/enums.js';

const CODE = '^[a-z0-9][a-z0-9_.:-]{0,63}$';

@InputType({ description: 'The fact that is booked, once.' })
export class LedgerSourceInput {
  @Rule({ pattern: CODE })
  @Field(() => String)
  service: string;

  @Rule({ pattern: CODE })
  @Field(() => String)
  type: string;

  @Rule({ pattern: '^[A-Za-z0-9_.:-]{1,128}$' })
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'Opens a schedule of the credited amount: it becomes income straight-line over the time.' })
export class LedgerRecognitionInput {
  @Rule({ pattern: '^[A-Za-z0-9_.:-]{1,128}$' })
  @Field(() => String, { description: 'Id of the invoice or gift.' })
  key: string;

  @Field(() => DateTime)
  from: Date;

  @Field(() => DateTime)
  to: Date;
}

@InputType({ description: 'Takes an amount off what a schedule has still to recognise, never below zero.' })
export class LedgerRecognitionCutInput {
  @Rule({ pattern: '^[A-Za-z0-9_.:-]{1,128}$' })
  @Field(() => String)
  key: string;

  @Rule({ min: 1 })
  @Field(() => SafeInt)
  amount: number;
}

@InputType()
export class LedgerEntryInput {
  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { description: 'Of an account that is there, or that the chart knows.' })
  accountCode: string;

  @Field(() => EntryDirection)
  direction: EntryDirection;

  @Field(() => MoneyInput)
  amount: MoneyInput;

  @Field(() => SafeInt, { nullable: true, description: 'The least that must be available on the account afterwards.' })
  minAvailable?: number | null;

  @Field(() => LedgerRecognitionInput, { nullable: true, description: 'Of a credit of deferred revenue.' })
  recognition?: LedgerRecognitionInput | null;

  @Field(() => LedgerRecognitionCutInput, { nullable: true, description: 'Of a debit of deferred revenue.' })
  recognitionCut?: LedgerRecognitionCutInput | null;
}

@InputType()
export class PostLedgerTransactionInput {
  @Field(() => LedgerSourceInput)
  source: LedgerSourceInput;

  @Rule({ maxLength: 200 })
  @Field(() => String, { description: 'Words about the fact, never about a person.' })
  description: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Whom it concerns.' })
  userId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now; at most a minute ahead.' })
  effectiveAt?: Date | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Only reserves, until it is posted, voided or expired.' })
  pending: boolean = false;

  @Field(() => DateTime, { nullable: true, description: 'Of a pending transaction; default in 7 days, at most in 30.' })
  expiresAt?: Date | null;

  @Rule({ minItems: 2, maxItems: 64 })
  @Field(() => [LedgerEntryInput])
  entries: LedgerEntryInput[];

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: 'Ids, codes and times by allow-listed keys; of two currencies the `rate`.' })
  metadata?: Record<string, unknown> | null;
}

@InputType()
export class PostLedgerTransactionsInput {
  @Rule({ minItems: 1, maxItems: 500 })
  @Field(() => [PostLedgerTransactionInput])
  transactions: PostLedgerTransactionInput[];

  @Field(() => Boolean, { defaultValue: true, description: 'All or none; else each on its own.' })
  atomic: boolean = true;
}

@InputType()
export class ReverseLedgerTransactionInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 3, maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String, { description: 'For the audit.' })
  reason: string;

  @Rule({ pattern: CODE })
  @Field(() => String, { defaultValue: 'correction', description: 'A word of it for those who are told.' })
  reasonCode: string = 'correction';
}

@InputType()
export class ResolvePendingLedgerTransactionInput {
  @Field(() => ID)
  id: string;

  @Field(() => LedgerPendingAction)
  action: LedgerPendingAction;

  @Field(() => MoneyInput, { nullable: true, description: 'To post, at most what is reserved; default: all of it.' })
  amount?: MoneyInput | null;
}

@ArgsType()
export class LedgerTransactionsArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  accountId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  sourceType?: string | null;

  @Rule({ maxLength: 128 })
  @Field(() => ID, { nullable: true })
  sourceId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Effective since.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Effective before.' })
  to?: Date | null;

  @Field(() => LedgerTransactionStatus, { nullable: true })
  status?: LedgerTransactionStatus | null;
}
