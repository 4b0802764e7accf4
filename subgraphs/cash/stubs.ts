import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `cash`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}
