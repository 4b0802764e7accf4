import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { MESSAGE_READERS } from './access.js';
import { CommsInboxCount } from './inbox.js';
import { CommsPreferences, CommsReachable } from './preferences.js';

@Access(MESSAGE_READERS)
@ObjectType({ description: 'How a person is reached, and what they were sent.' })
export class UserComms {
  @Field(() => ID)
  userId: string;

  @Field(() => CommsPreferences, { nullable: true })
  preferences?: CommsPreferences | null;

  @Field(() => CommsInboxCount, { nullable: true })
  inboxCount?: CommsInboxCount | null;

  @Field(() => CommsReachable, { nullable: true })
  reachable?: CommsReachable | null;
}
