import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { PortalFlow } from '../entities/enums-offers.js';

@InputType()
export class CreatePortalSessionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;

  @Rule({ maxLength: 2048 })
  @Field(() => String, { description: "With an origin of the brand's, or of the app's registered addresses." })
  returnUrl: string;

  @Field(() => PortalFlow, { defaultValue: PortalFlow.HOME, description: 'What the pages show.' })
  flow: PortalFlow = PortalFlow.HOME;
}
