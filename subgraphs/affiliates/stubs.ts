import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `affiliate` and `referredBy`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A storefront, of platform. */
@Directive('@key(fields: "id", resolvable: false)')
@ObjectType()
export class Brand {
  @Field(() => ID)
  id: string;
}

/** An order, of commerce; this service adds `attribution`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Order {
  @Field(() => ID)
  id: string;
}
