import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';

@Access({ service: 'admin:clinical' })
@ObjectType({ description: "What the erasure of a patient's clinical record removed." })
export class ClinicalErasure {
  @Field(() => ID)
  patientId: string;

  @Field(() => String, { description: 'erased, retained, or nothing_held.' })
  outcome: string;

  @Field(() => JSONObject, { description: 'Rows deleted per table; `retained_consult`: rows kept.' })
  records: Readonly<Record<string, number>>;

  @Field(() => String, { nullable: true, description: 'Why something is retained.' })
  basis: string | null;
}
