import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { JSONObject, LocalDate } from '../../../runtime/schema/scalars.js';
import { ConsultOutcome, ConsultStatus } from '../entities/consult.js';
import { KEY } from './patterns.js';

@ArgsType()
export class MyConsultsArgs extends PageArgs {
  @Field(() => [ConsultStatus], { nullable: true })
  status?: ConsultStatus[] | null;
}

@ArgsType()
export class ConsultsArgs extends MyConsultsArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@InputType()
export class RequestConsultInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service and staff tokens.' })
  userId?: string | null;

  @Rule({ pattern: KEY })
  @Field(() => String, { description: 'A code, for example initial.' })
  type: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'The intervention that waits for it.' })
  interventionId?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: 'Answers by the key of the question, at most 100.' })
  intakeAnswers?: object | null;
}

@InputType({ description: 'What is given is changed.' })
export class UpdateConsultInput {
  @Field(() => ID)
  id: string;

  @Rule({ min: 1, max: 1_000_000 })
  @Field(() => Int, { description: 'The version that was read.' })
  version: number;

  @Field(() => ConsultStatus, { nullable: true, description: 'SCHEDULED, which needs a visit, or IN_PROGRESS.' })
  status?: ConsultStatus | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  visitId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  clinicianId?: string | null;

  @Rule({ minLength: 1, maxLength: 20_000 })
  @Field(() => String, { nullable: true })
  notes?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  intakeAnswers?: object | null;
}

@InputType()
export class SignConsultInput {
  @Field(() => ID)
  id: string;

  @Rule({ min: 1, max: 1_000_000 })
  @Field(() => Int, { description: 'The version that was read.' })
  version: number;

  @Field(() => ConsultOutcome)
  outcome: ConsultOutcome;

  @Rule({ minLength: 1, maxLength: 20_000 })
  @Field(() => String, { nullable: true })
  notes?: string | null;

  @Field(() => LocalDate, { nullable: true })
  followUpDueOn?: string | null;
}

@InputType()
export class AddConsultAddendumInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 20_000 })
  @Field(() => String)
  text: string;
}
