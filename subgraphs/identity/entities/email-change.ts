import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';

@Access({ user: 'read:account', firstParty: true })
@ObjectType({ description: 'A code is on its way to the new address.' })
export class EmailChangeRequest {
  @Field(() => ID)
  challengeId: string;

  @Field(() => String, { description: 'The address, masked.' })
  sentTo: string;

  @Field(() => DateTime)
  expiresAt: Date;
}
