import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `entitlements`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A level of a plan, of membership; this service adds `features`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class MembershipTier {
  @Field(() => ID)
  id: string;
}
