import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `policyAcceptances` and `pendingPolicies`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A storefront, of platform; this service adds `policies` and `contentRoutes`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Brand {
  @Field(() => ID)
  id: string;
}

/** What is sold, of commerce. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Product {
  @Field(() => ID)
  id: string;
}

/** A marker of the dictionary, of clinical; this service adds `goals` and `protocolDetails`. */
@Directive('@key(fields: "code")')
@ObjectType()
export class Biomarker {
  @Field(() => String)
  code: string;
}
