import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; clinical adds `clinical`. */
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
