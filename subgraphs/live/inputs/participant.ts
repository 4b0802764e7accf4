import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { LiveRole } from '../entities/enums.js';

const PARTICIPANT = '^p_[A-Za-z0-9]{22}$';

@InputType()
export class RemoveLiveParticipantInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  sessionId: string;

  @Rule({ maxLength: 40, pattern: PARTICIPANT })
  @Field(() => String)
  participantId: string;

  @Rule({ minLength: 1, maxLength: 40, pattern: '^[a-z_]+$' })
  @Field(() => String)
  reasonCode: string;

  @Field(() => DateTime, { nullable: true, description: 'Default: for the session.' })
  until?: Date | null;
}

@InputType()
export class SetLiveParticipantRoleInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  sessionId: string;

  @Rule({ maxLength: 40, pattern: PARTICIPANT })
  @Field(() => String)
  participantId: string;

  @Field(() => LiveRole, { description: 'SPEAKER or VIEWER.' })
  role: LiveRole;
}
