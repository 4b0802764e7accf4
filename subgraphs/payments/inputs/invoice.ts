import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { InvoiceStatus } from '../entities/enums-billing.js';

@ArgsType()
export class UserInvoicesArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => InvoiceStatus, { nullable: true })
  status?: InvoiceStatus | null;
}

@InputType()
export class PayInvoiceInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the subscription's, else the customer's." })
  paymentMethodId?: string | null;
}

@InputType()
export class CloseInvoiceInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 3, maxLength: 500, pattern: '\\S' })
  @Field(() => String, { description: 'For the audit.' })
  reason: string;
}

@InputType({ description: 'Either invoices by id, or those that became past due before an instant.' })
export class RetryInvoicesInput {
  @Rule({ minItems: 1, maxItems: 200, pattern: UUID })
  @Field(() => [ID], { nullable: true })
  invoiceIds?: string[] | null;

  @Field(() => DateTime, { nullable: true })
  pastDueBefore?: Date | null;

  @Rule({ min: 1, max: 200 })
  @Field(() => Int, { defaultValue: 100 })
  limit: number = 100;

  @Field(() => Boolean, { defaultValue: false, description: 'Only tells what would be done.' })
  dryRun: boolean = false;

  @Field(() => Boolean, { defaultValue: false, description: 'Never the ceiling of the card networks, never after a hard decline.' })
  ignoreSchedule: boolean = false;
}
