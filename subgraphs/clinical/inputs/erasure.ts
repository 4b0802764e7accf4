import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';

@InputType()
export class EraseClinicalRecordInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  patientId: string;
}
