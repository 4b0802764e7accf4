import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { AffiliateAction, AffiliateStatus, WinBackClaimStatus } from '../entities/enums.js';

/** As it is entered at a checkout. */
export const CODE = '^[A-Za-z0-9][A-Za-z0-9_-]{2,31}$';

@InputType()
export class ApplyAsAffiliateInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  programId: string;
}

@InputType()
export class UpdateMyAffiliateInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the oldest.' })
  programId?: string | null;

  @Rule({ pattern: CODE })
  @Field(() => String)
  code: string;

  @Field(() => Int, { nullable: true, description: 'As it was read.' })
  version?: number | null;
}

@InputType()
export class UpdateAffiliateInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  code?: string | null;

  @Rule({ maxLength: 40 })
  @Field(() => String, { nullable: true })
  tierKey?: string | null;

  @Field(() => Int, { nullable: true, description: 'As it was read.' })
  version?: number | null;
}

@InputType()
export class TransitionAffiliateInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => AffiliateAction)
  action: AffiliateAction;
}

@InputType()
export class CreateAffiliateLinkInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the oldest.' })
  programId?: string | null;

  @Rule({ maxLength: 2_000 })
  @Field(() => Url, { description: 'On a host of the brand.' })
  target: URL;
}

@ArgsType()
export class AffiliatesArgs extends PageArgs {
  @Field(() => AffiliateStatus, { nullable: true })
  status?: AffiliateStatus | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  programId?: string | null;
}

@ArgsType()
export class MyWinBackClaimsArgs extends PageArgs {
  @Field(() => WinBackClaimStatus, { nullable: true, description: 'At the instant of reading.' })
  status?: WinBackClaimStatus | null;
}

@InputType()
export class SendWinBackInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;
}

@InputType()
export class RecordAffiliateClickInput {
  @Rule({ pattern: CODE })
  @Field(() => String)
  code: string;
}
