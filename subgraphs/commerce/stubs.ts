import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `activeCart`, `orders`, `productSubscriptions` and `commerceSummary`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A storefront, of platform; this service adds `products` and `shippingCountries`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Brand {
  @Field(() => ID)
  id: string;
}
