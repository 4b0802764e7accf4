import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { LiveCallKind, LiveCallReferenceType, LiveCallRole } from '../entities/enums.js';

@InputType()
export class LiveCallParticipantInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => LiveCallRole)
  role: LiveCallRole;
}

@InputType()
export class LiveCallReferenceInput {
  @Field(() => LiveCallReferenceType)
  type: LiveCallReferenceType;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  id?: string | null;
}

@InputType()
export class CreateLiveCallInput {
  @Field(() => LiveCallKind)
  kind: LiveCallKind;

  @Rule({ minItems: 2, maxItems: 50 })
  @Field(() => [LiveCallParticipantInput])
  participants: LiveCallParticipantInput[];

  @Field(() => LiveCallReferenceInput, { nullable: true, description: 'Members must name one, which its owner confirms.' })
  reference?: LiveCallReferenceInput | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  opensAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: 60 minutes after the opening; at most 8 hours.' })
  closesAt?: Date | null;
}
