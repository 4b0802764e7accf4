import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID, NOT_BLANK } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { LoopProposalStatus } from '../entities/enums.js';
import { ActedInput, BrandPolicyListArgs, PolicyListArgs, NAME } from './parts.js';

@ArgsType()
export class MetaMetricsArgs extends BrandPolicyListArgs {
  @Rule({ pattern: NAME })
  @Field(() => String, { nullable: true })
  metric?: string | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  policyVersion?: number | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;

  @Field(() => Boolean, { defaultValue: false, description: 'All records, newest first; else the newest per metric and scope.' })
  history: boolean = false;
}

@ArgsType()
export class LoopProposalsArgs extends PolicyListArgs {
  @Field(() => LoopProposalStatus, { nullable: true })
  status?: LoopProposalStatus | null;

  @Rule({ pattern: NAME })
  @Field(() => String, { nullable: true })
  metric?: string | null;
}

@InputType()
export class ReviewLoopProposalInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 128, pattern: NOT_BLANK })
  @Field(() => String)
  reviewerId: string;

  @Rule({ maxLength: 2000 })
  @Field(() => String, { nullable: true })
  notes?: string | null;
}

@InputType()
export class ApplyLoopProposalInput extends ActedInput {
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => Int)
  version: number;
}

@InputType()
export class PromoteRegistryVersionInput extends ActedInput {
  @Field(() => ID)
  id: string;
}

@InputType()
export class RollbackRegistryInput extends ActedInput {
  @Rule({ pattern: NAME })
  @Field(() => String)
  policyKind: string;

  @Rule({ pattern: NAME })
  @Field(() => String)
  policyKey: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'The key is required; the value may be null.' })
  brandId?: string | null;

  @Rule({ min: 1 })
  @Field(() => Int)
  toVersion: number;
}
