import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A storefront; owned by platform. */
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A storefront.' })
export class Brand {
  @Field(() => ID)
  id: string;
}
