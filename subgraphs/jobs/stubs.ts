import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `jobs`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A service of the suite, of platform; this service adds `jobQueues`. */
@Directive('@key(fields: "slug")')
@ObjectType()
export class PlatformService {
  @Field(() => String)
  slug: string;
}
