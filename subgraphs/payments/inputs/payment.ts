import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, MoneyInput } from '../../../runtime/schema/scalars.js';
import { PaymentPurpose, PaymentStatus } from '../entities/enums-payment.js';

@ArgsType()
export class PaymentsArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Service tokens: of whom; default everybody.' })
  userId?: string | null;

  @Field(() => PaymentStatus, { nullable: true })
  status?: PaymentStatus | null;

  @Field(() => PaymentPurpose, { nullable: true })
  purpose?: PaymentPurpose | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  orderId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Created then or later.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Created before.' })
  to?: Date | null;
}

@InputType()
export class CapturePaymentInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => MoneyInput, { nullable: true, description: 'At most what is authorized, default all of it; the rest is released.' })
  amount?: MoneyInput | null;
}
