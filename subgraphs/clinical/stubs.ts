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

/** A patient, of patient-graph: its id is the user's. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Patient {
  @Field(() => ID)
  id: string;
}

/** An encounter, of patient-graph. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Encounter {
  @Field(() => ID)
  id: string;
}

/** An order of laboratory tests, of labs. */
@Directive('@key(fields: "id")')
@ObjectType()
export class LabOrder {
  @Field(() => ID)
  id: string;
}

/** A booked visit, of booking. */
@Directive('@key(fields: "id")')
@ObjectType()
export class BookingVisit {
  @Field(() => ID)
  id: string;
}
