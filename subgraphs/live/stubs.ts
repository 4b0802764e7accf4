import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `liveRegistrations` and `hostedLiveSessions`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A storefront, of platform; this service adds `liveSessions`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Brand {
  @Field(() => ID)
  id: string;
}

/** A level of a plan, of membership, that would open a session. */
@Directive('@key(fields: "id")')
@ObjectType()
export class MembershipTier {
  @Field(() => ID)
  id: string;
}
