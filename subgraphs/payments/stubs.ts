import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `billing` and `gifts`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A brand; owned by platform. */
@Directive('@key(fields: "id", resolvable: false)')
@ObjectType({ description: 'A brand.' })
export class Brand {
  @Field(() => ID)
  id: string;
}

/** What can be bought as a membership, of membership; this service adds `prices`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class MembershipPlan {
  @Field(() => ID)
  id: string;
}

/** Cash that is held for a purchase, of cash. */
@Directive('@key(fields: "id", resolvable: false)')
@ObjectType()
export class CashReservation {
  @Field(() => ID)
  id: string;
}
