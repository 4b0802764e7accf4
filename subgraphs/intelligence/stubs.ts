import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; intelligence adds `loopDecisions`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A storefront, of platform; intelligence adds `rankingPolicies`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Brand {
  @Field(() => ID)
  id: string;
}

/** A flag, of platform; intelligence adds the gate of `feature.intelligence.stage`. */
@Directive('@key(fields: "key")')
@ObjectType()
export class FeatureFlag {
  @Field(() => String)
  key: string;
}
