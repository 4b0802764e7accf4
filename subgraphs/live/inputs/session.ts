import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, Locale, TimeZone, Url } from '../../../runtime/schema/scalars.js';
import {
  LiveHostRole,
  LiveInclude,
  LiveModeration,
  LivePromotionMode,
  LiveSessionKind,
  LiveSessionStatus,
  LiveVisibility,
} from '../entities/enums.js';

@InputType()
export class LiveHostInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => LiveHostRole)
  role: LiveHostRole;
}

/** What a session is made of, and what can be changed of it. */
@InputType()
class LiveSessionFields {
  @Rule({ maxLength: 10_000 })
  @Field(() => String, { nullable: true, description: 'Markdown.' })
  description?: string | null;

  @Field(() => Url, { nullable: true })
  coverImageUrl?: URL | string | null;

  @Rule({ maxItems: 10, maxLength: 40 })
  @Field(() => [String], { nullable: true })
  tags?: string[] | null;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Field(() => LiveVisibility, { nullable: true })
  visibility?: LiveVisibility | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'Entitlement that a viewer needs.' })
  requiredFeature?: string | null;

  @Rule({ min: 1, max: 100_000 })
  @Field(() => Int, { nullable: true, description: 'Null: not limited.' })
  capacity?: number | null;

  @Field(() => Boolean, { nullable: true })
  waitlistEnabled?: boolean | null;

  @Rule({ min: 1, max: 100_000 })
  @Field(() => Int, { nullable: true })
  waitlistLimit?: number | null;

  @Field(() => LivePromotionMode, { nullable: true })
  promotionMode?: LivePromotionMode | null;

  @Field(() => Boolean, { nullable: true })
  registrationRequired?: boolean | null;

  @Field(() => DateTime, { nullable: true })
  registrationOpensAt?: Date | null;

  @Field(() => DateTime, { nullable: true })
  registrationClosesAt?: Date | null;

  @Field(() => Boolean, { nullable: true })
  questionsEnabled?: boolean | null;

  @Field(() => LiveModeration, { nullable: true })
  questionModeration?: LiveModeration | null;

  @Field(() => Boolean, { nullable: true })
  anonymousQuestions?: boolean | null;

  @Field(() => DateTime, { nullable: true })
  questionsOpenAt?: Date | null;

  @Field(() => Boolean, { nullable: true })
  chatEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  recordingEnabled?: boolean | null;
}

@InputType()
export class CreateLiveSessionInput extends LiveSessionFields {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the token's brand." })
  brandId?: string | null;

  @Field(() => LiveSessionKind)
  kind: LiveSessionKind;

  @Rule({ minLength: 1, maxLength: 140 })
  @Field(() => String)
  title: string;

  @Field(() => DateTime)
  startsAt: Date;

  @Field(() => DateTime)
  endsAt: Date;

  @Field(() => TimeZone, { nullable: true, description: 'Default: UTC.' })
  timeZone?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the caller; services and staff must name one.' })
  hostUserId?: string | null;

  @Rule({ maxItems: 19 })
  @Field(() => [LiveHostInput], { nullable: true, description: 'The rest of the host team.' })
  hosts?: LiveHostInput[] | null;

  @Field(() => LiveSessionStatus, { nullable: true, description: 'DRAFT or SCHEDULED, which is the default.' })
  status?: LiveSessionStatus | null;
}

@InputType()
export class UpdateLiveSessionInput extends LiveSessionFields {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 140 })
  @Field(() => String, { nullable: true })
  title?: string | null;

  @Field(() => DateTime, { nullable: true })
  startsAt?: Date | null;

  @Field(() => DateTime, { nullable: true })
  endsAt?: Date | null;

  @Field(() => TimeZone, { nullable: true })
  timeZone?: string | null;

  @Field(() => LiveSessionStatus, {
    nullable: true,
    description: 'Publishes, starts, ends or cancels it, after the other fields were applied.',
  })
  status?: LiveSessionStatus | null;

  @Rule({ pattern: '^(host_unavailable|low_demand|technical|host_no_show|other)$' })
  @Field(() => String, { nullable: true })
  cancelReason?: string | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'The version that was read; another is a conflict.' })
  version?: number | null;
}

@InputType()
export class AssignLiveHostInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  sessionId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => LiveHostRole, { nullable: true, description: 'HOST hands the session over: the host before becomes CO_HOST.' })
  role?: LiveHostRole | null;

  @Field(() => Boolean, { nullable: true })
  remove?: boolean | null;
}

@InputType()
export class CreateLiveSeriesInput extends CreateLiveSessionInput {
  @Rule({ minLength: 5, maxLength: 500 })
  @Field(() => String, { description: 'RFC 5545, dates only, at most 26 occurrences: `FREQ=WEEKLY;BYDAY=MO;COUNT=8`.' })
  rrule: string;
}

@ArgsType()
export class LiveSessionsArgs extends PageArgs {
  @Rule({ maxItems: 5 })
  @Field(() => [LiveSessionStatus], { nullable: true, description: 'Default: SCHEDULED and LIVE.' })
  status?: LiveSessionStatus[] | null;

  @Field(() => LiveSessionKind, { nullable: true })
  kind?: LiveSessionKind | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  hostUserId?: string | null;

  @Rule({ minLength: 1, maxLength: 40 })
  @Field(() => String, { nullable: true })
  tag?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Of the beginning.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;

  @Field(() => Boolean, { nullable: true, description: 'Those for which the caller has a seat or waits.' })
  registered?: boolean | null;
}

@ArgsType()
export class AdminLiveSessionsArgs extends LiveSessionsArgs {
  @Field(() => LiveInclude, { nullable: true })
  include?: LiveInclude | null;
}
