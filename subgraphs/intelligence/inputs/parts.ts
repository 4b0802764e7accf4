import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';

/** Names of policies, metrics, sets and codes. */
export const NAME = '^[a-z][a-z0-9_]{1,63}$';

/** A list that can be narrowed to the policies of a kind and key. */
@ArgsType()
export abstract class PolicyListArgs extends PageArgs {
  @Rule({ pattern: NAME })
  @Field(() => String, { nullable: true })
  policyKind?: string | null;

  @Rule({ pattern: NAME })
  @Field(() => String, { nullable: true })
  policyKey?: string | null;
}

/** The same, and to those of a brand. */
@ArgsType()
export abstract class BrandPolicyListArgs extends PolicyListArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;
}

/** Names a policy: of a brand, or of every brand without its own. */
@InputType()
export abstract class PolicyNameInput {
  @Rule({ pattern: NAME })
  @Field(() => String)
  policyKind: string;

  @Rule({ pattern: NAME })
  @Field(() => String)
  policyKey: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Null: of every brand without its own.' })
  brandId?: string | null;
}

/** Who, behind the client, changes a champion, and why. */
@InputType()
export abstract class ActedInput {
  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String, { nullable: true })
  actorId?: string | null;

  @Rule({ maxLength: 500 })
  @Field(() => String, { nullable: true })
  reason?: string | null;
}

/** Whom something is about. */
@InputType()
export abstract class AboutEntityInput {
  @Rule({ pattern: '^user$' })
  @Field(() => String)
  entityType: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  entityId: string;
}
