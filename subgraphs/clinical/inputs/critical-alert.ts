import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CriticalAlertContactOutcome, CriticalAlertStatus } from '../entities/critical-alert.js';

@ArgsType()
export class CriticalAlertsArgs extends PageArgs {
  @Field(() => [CriticalAlertStatus], { nullable: true })
  status?: CriticalAlertStatus[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  observationId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@InputType()
export class RecordCriticalAlertContactInput {
  @Field(() => ID)
  id: string;

  @Field(() => CriticalAlertContactOutcome)
  outcome: CriticalAlertContactOutcome;
}

@InputType()
export class CloseCriticalAlertInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { description: 'Why it is closed; no health value.' })
  reason: string;
}
