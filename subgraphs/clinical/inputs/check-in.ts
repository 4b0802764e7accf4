import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { CheckInStatus } from '../entities/check-in.js';

@ArgsType()
export class MyCheckInsArgs extends PageArgs {
  @Field(() => [CheckInStatus], { nullable: true })
  status?: CheckInStatus[] | null;
}

@InputType()
export class SubmitCheckInInput {
  @Field(() => ID)
  id: string;

  @Field(() => JSONObject, { nullable: true, description: 'By the key of the question; required unless it is skipped.' })
  answers?: object | null;

  @Field(() => Boolean, { defaultValue: false, description: 'The member does not want to answer.' })
  skip: boolean;
}
