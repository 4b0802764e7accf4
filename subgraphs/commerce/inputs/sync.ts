import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { CommerceSyncKind, CommerceSyncStatus } from '../entities/enums.js';

@InputType()
export class StartCommerceSyncInput {
  @Field(() => CommerceSyncKind)
  kind: CommerceSyncKind;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the token's brand, else the default brand." })
  brandId?: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Changed, or bought, since then; customers of the embedded storefront and affiliates have no such time.',
  })
  since?: Date | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Writes nothing.' })
  dryRun: boolean = false;

  @Rule({ min: 1, max: 10_000 })
  @Field(() => Int, { nullable: true, description: 'Most records that are seen.' })
  limit?: number | null;

  @Rule({ maxItems: 100, maxLength: 128 })
  @Field(() => [String], {
    nullable: true,
    description: "The storefront's ids of what is taken over; ids of users where profiles or groups go there.",
  })
  ids?: string[] | null;
}

@ArgsType()
export class CommerceSyncsArgs extends PageArgs {
  @Field(() => CommerceSyncKind, { nullable: true })
  kind?: CommerceSyncKind | null;

  @Field(() => CommerceSyncStatus, { nullable: true })
  status?: CommerceSyncStatus | null;
}

@InputType()
export class CommerceErasureInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  erasureRequestId?: string | null;
}

@InputType()
export class UnfurlLinkInput {
  @Rule({ minLength: 1, maxLength: 2048 })
  @Field(() => String)
  url: string;
}
