import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { FlagDefinition as Definition, FlagError, FlagReason, FlagValue } from '../../../runtime/flags/evaluation.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

/** The evaluator's terms as a GraphQL enum; the compiler demands all of them. */
const enumOf = <Term extends string>(all: Record<Term, Term>): Record<Term, Term> => all;

export const FlagEvaluationReason = enumOf<FlagReason>({
  STATIC: 'STATIC',
  DEFAULT: 'DEFAULT',
  TARGETING_MATCH: 'TARGETING_MATCH',
  SPLIT: 'SPLIT',
  DISABLED: 'DISABLED',
  STALE: 'STALE',
  ERROR: 'ERROR',
});

export const FlagEvaluationErrorCode = enumOf<FlagError>({
  FLAG_NOT_FOUND: 'FLAG_NOT_FOUND',
  TARGETING_KEY_MISSING: 'TARGETING_KEY_MISSING',
  TYPE_MISMATCH: 'TYPE_MISMATCH',
  PROVIDER_NOT_READY: 'PROVIDER_NOT_READY',
  INVALID_CONTEXT: 'INVALID_CONTEXT',
  GENERAL: 'GENERAL',
});
registerEnums(
  { FlagEvaluationReason, FlagEvaluationErrorCode },
  {
    FlagEvaluationReason: 'Why a flag has its value, in the terms of OpenFeature.',
    FlagEvaluationErrorCode: 'In the terms of OpenFeature.',
  },
);

@ObjectType({ description: 'The value of a flag for a brand, a user and attributes, and why.' })
export class FlagEvaluation {
  @Field(() => String)
  key: string;

  @Field(() => JSONObject, { nullable: true, description: "Null for an unknown flag: the caller's code default applies." })
  value: FlagValue | null;

  @Field(() => String, { nullable: true })
  variant: string | null;

  @Field(() => FlagEvaluationReason)
  reason: FlagReason;

  @Field(() => FlagEvaluationErrorCode, { nullable: true })
  errorCode: FlagError | null;

  @Field(() => Int, { nullable: true })
  revision: number | null;
}

/** One row of a snapshot. Its parts are JSON in the names of the evaluator, so that a client evaluates what it received. */
@Access({ service: '*' })
@ObjectType({ description: 'A flag as the evaluator needs it. The JSON parts have camelCase keys, attributes and operators in capitals.' })
export class FlagDefinition implements Definition {
  @Field(() => String)
  key: string;

  @Field(() => JSONObject, { description: '[{name, value}]' })
  variants: Definition['variants'];

  @Field(() => String)
  offVariant: string;

  @Field(() => JSONObject, { description: '{variant} or {rollout: [{variant, basisPoints}]}' })
  defaultRule: Definition['defaultRule'];

  @Field(() => JSONObject, { description: '[{conditions: [{attribute, operator, values}], variant or rollout}]' })
  rules: Definition['rules'];

  @Field(() => JSONObject, { description: '[{key, variant}]' })
  prerequisites: Definition['prerequisites'];

  @Field(() => Boolean)
  enabled: boolean;

  @Field(() => Boolean)
  killed: boolean;

  @Field(() => Boolean)
  archived: boolean;

  @Field(() => Boolean)
  failClosed: boolean;

  @Field(() => String)
  salt: string;

  @Field(() => Int)
  revision: number;
}

@Access({ service: '*' })
@ObjectType({ description: 'The flags of which a service is owner or reader, at one revision.' })
export class FlagSnapshot {
  @Field(() => Int, { description: 'Grows by one with every applied change of any flag.' })
  revision: number;

  @Field(() => [FlagDefinition])
  flags: FlagDefinition[];
}
