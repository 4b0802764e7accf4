import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** An account; owned by identity. */
@Directive('@key(fields: "id", resolvable: false)')
@ObjectType({ description: 'An account.' })
export class User {
  @Field(() => ID)
  id: string;
}

/** An application that may ask for tokens; owned by identity. */
@Directive('@key(fields: "id", resolvable: false)')
@ObjectType({ description: 'An application that may ask for tokens.' })
export class OAuthClient {
  @Field(() => ID)
  id: string;
}
