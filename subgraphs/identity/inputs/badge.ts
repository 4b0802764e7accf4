import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import { BadgeTier, UserBadgeSource } from '../entities/badge.js';
import { FILLED_LINE } from './text.js';

@InputType({ description: 'A badge as profiles show it.' })
export class UpsertBadgeInput {
  @Rule({ pattern: '^[a-z0-9]+(?:[_-][a-z0-9]+)*$', maxLength: 64 })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 60, pattern: FILLED_LINE })
  @Field(() => String)
  name: string;

  @Rule({ maxLength: 200, pattern: FILLED_LINE })
  @Field(() => String)
  description: string;

  @Field(() => Url, { nullable: true })
  iconUrl?: URL | string | null;

  @Field(() => BadgeTier, { defaultValue: BadgeTier.NONE })
  tier: BadgeTier = BadgeTier.NONE;
}

@InputType({ description: 'A badge for a user.' })
export class AwardBadgeInput {
  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: 64 })
  @Field(() => String, { description: 'Key of the badge.' })
  badge: string;

  @Field(() => UserBadgeSource, { defaultValue: UserBadgeSource.SYSTEM })
  source: UserBadgeSource = UserBadgeSource.SYSTEM;

  @Field(() => DateTime, { nullable: true })
  expiresAt?: Date | null;
}

@InputType({ description: 'A badge to take back.' })
export class RevokeBadgeInput {
  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: 64 })
  @Field(() => String, { description: 'Key of the badge.' })
  badge: string;
}
