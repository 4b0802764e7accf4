import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';

/** Where browsers may call the API from with a client's tokens. */
@Access({ internal: true })
@ObjectType({ description: "Web origins of a client's browser apps." })
export class ClientOrigins {
  @Field(() => ID)
  clientId: string;

  @Field(() => [String])
  origins: string[];
}
