import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `membership`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A storefront, of platform. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Brand {
  @Field(() => ID)
  id: string;
}

/** What bills a member, of payments; this service adds `membership`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class BillingSubscription {
  @Field(() => ID)
  id: string;
}

/** A purchase that is under way, of payments. */
@Directive('@key(fields: "id")')
@ObjectType()
export class CheckoutSession {
  @Field(() => ID)
  id: string;
}
