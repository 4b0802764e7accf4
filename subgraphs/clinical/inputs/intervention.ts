import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { LocalDate, TimeZone } from '../../../runtime/schema/scalars.js';
import { InterventionKind, InterventionStatus } from '../entities/intervention.js';
import { KEY } from './patterns.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum InterventionAction {
  ACTIVATE = 'activate',
  PAUSE = 'pause',
  RESUME = 'resume',
  STOP = 'stop',
  COMPLETE = 'complete',
}
registerEnums({ InterventionAction });

@InputType()
export class StartInterventionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service and staff tokens.' })
  userId?: string | null;

  @Field(() => InterventionKind)
  kind: InterventionKind;

  @Rule({ pattern: KEY })
  @Field(() => String, { description: 'Key of a protocol, or of a stack of content.' })
  key: string;

  @Field(() => LocalDate, { nullable: true, description: 'Default today, in the time zone.' })
  startedOn?: string | null;

  @Field(() => TimeZone, { defaultValue: 'UTC' })
  timeZone: string;
}

@InputType()
export class ChangeInterventionInput {
  @Field(() => ID)
  id: string;

  @Field(() => InterventionAction)
  action: InterventionAction;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { nullable: true, description: 'Why it is stopped.' })
  reason?: string | null;
}

@ArgsType()
export class MyInterventionsArgs extends PageArgs {
  @Field(() => [InterventionStatus], { nullable: true })
  status?: InterventionStatus[] | null;
}

@ArgsType()
export class InterventionsArgs extends MyInterventionsArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;
}
