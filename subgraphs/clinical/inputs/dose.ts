import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, QuantityInput } from '../../../runtime/schema/scalars.js';
import { VISIBLE } from './patterns.js';

export enum DoseResult {
  TAKEN = 'taken',
  SKIPPED = 'skipped',
}
registerEnums({ DoseResult });

@ArgsType()
export class MyDosesArgs extends PageArgs {
  @Field(() => DateTime, { nullable: true, description: 'Earliest time, inclusive.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Latest time, inclusive.' })
  to?: Date | null;
}

@ArgsType()
export class DosesArgs extends MyDosesArgs {
  @Rule({ minItems: 1, maxItems: 100, pattern: UUID })
  @Field(() => [ID])
  userIds: string[];
}

@InputType()
export class LogDoseInput {
  @Field(() => ID)
  id: string;

  @Field(() => DoseResult, { defaultValue: DoseResult.TAKEN })
  status: DoseResult;

  @Field(() => DateTime, { nullable: true, description: 'Default now; at most 7 days back.' })
  takenAt?: Date | null;

  @Field(() => QuantityInput, { nullable: true, description: 'Default: as planned.' })
  quantity?: QuantityInput | null;

  @Rule({ minLength: 1, maxLength: 64, pattern: VISIBLE })
  @Field(() => String, { nullable: true, description: 'Where it was given, a code.' })
  site?: string | null;

  @Rule({ minLength: 1, maxLength: 2000 })
  @Field(() => String, { nullable: true })
  note?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the one that was planned.' })
  vialId?: string | null;
}
