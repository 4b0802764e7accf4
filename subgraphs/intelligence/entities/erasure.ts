import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';

@Access(READERS)
@ObjectType({ description: 'What the erasure of an entity removed.' })
export class EntityErasure {
  @Field(() => String)
  entityType: string;

  @Field(() => ID)
  entityId: string;

  @Field(() => String, { description: 'erased, or nothing_held.' })
  outcome: string;

  @Field(() => JSONObject, { description: 'Rows deleted per table.' })
  records: Readonly<Record<string, number>>;
}
