import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** An account; owned by identity. This service adds `events`. */
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An account.' })
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
