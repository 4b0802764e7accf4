import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `comms` and `mentionDigestPreference`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}
