import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime, TimeZone, Url } from '../../../runtime/schema/scalars.js';
import { LiveAccessReason, LiveHostRole, LiveJoinMode, LiveRole } from './enums.js';
import { MembershipTier } from '../stubs.js';
import { LiveRegistration } from './registration.js';

/** Whether the caller may take part. */
@ObjectType({ description: 'Whether the caller may take part in a session.' })
export class LiveAccess {
  @Field(() => Boolean)
  allowed: boolean;

  @Field(() => LiveAccessReason)
  reason: LiveAccessReason;

  @Field(() => [MembershipTier], { description: 'Tiers that would open it.' })
  upgradeTo: MembershipTier[];
}

@ObjectType({ description: 'Seats and viewers of a session.' })
export class LiveCounts {
  @Field(() => Int)
  confirmed: number;

  @Field(() => Int)
  offered: number;

  @Field(() => Int)
  waitlisted: number;

  @Field(() => Int, { nullable: true })
  capacity: number | null;

  @Field(() => Int, { description: 'Who was there for a second at least.' })
  attended: number;

  @Field(() => Int, { nullable: true, description: 'Free seats; null where they are not limited.' })
  remaining: number | null;

  @Field(() => Int)
  viewersNow: number;

  @Field(() => Int)
  peakViewers: number;
}

@ObjectType('LiveSessionHost', { description: 'A member of the host team.' })
export class LiveTeamMember {
  @Field(() => ID)
  userId: string;

  @Field(() => LiveHostRole)
  role: LiveHostRole;
}

@ObjectType('LiveSeries', { description: 'The rule by which sessions were made together.' })
export class LiveSeriesSummary {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  rrule: string;

  @Field(() => TimeZone)
  timeZone: string;
}

@ObjectType({ description: 'When somebody was in the room.' })
export class LiveAttendanceSummary {
  @Field(() => DateTime, { nullable: true })
  firstJoinedAt: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Null while there.' })
  lastLeftAt: Date | null;

  @Field(() => Int)
  seconds: number;
}

@ObjectType({ description: 'What a client needs to enter a room.' })
export class LiveJoin {
  @Field(() => ID, { nullable: true })
  sessionId: string | null;

  @Field(() => ID, { nullable: true })
  callId: string | null;

  @Field(() => String)
  provider: string;

  @Field(() => LiveJoinMode)
  mode: LiveJoinMode;

  @Field(() => String)
  url: string;

  @Field(() => String, { nullable: true, description: 'Matters at connect only.' })
  token: string | null;

  @Field(() => DateTime, { nullable: true })
  tokenExpiresAt: Date | null;

  @Field(() => String)
  room: string;

  @Field(() => String, { description: 'Pseudonym by which the vendor and others in the room know the caller.' })
  participantId: string;

  @Field(() => LiveRole)
  role: LiveRole;

  @Field(() => Boolean)
  canPublish: boolean;

  @Field(() => Boolean)
  canPublishData: boolean;

  @Field(() => Url, { nullable: true })
  playbackUrl: string | null;

  @Field(() => LiveRegistration, { nullable: true })
  registration: LiveRegistration | null;

  @Field(() => String, { nullable: true })
  streamPath: string | null;
}

@ObjectType({ description: 'What a client needs to chat.' })
export class LiveChatToken {
  @Field(() => String)
  provider: string;

  @Field(() => String)
  url: string;

  @Field(() => String)
  channelId: string;

  @Field(() => String)
  token: string;

  @Field(() => LiveRole)
  role: LiveRole;

  @Field(() => DateTime)
  expiresAt: Date;
}

@ObjectType({ description: 'Opens one stream in an address, for clients that cannot send headers.' })
export class LiveStreamTicket {
  @Field(() => String)
  ticket: string;

  @Field(() => DateTime)
  expiresAt: Date;

  @Field(() => String)
  path: string;
}

@ObjectType({ description: 'Ids of those who are to be told of a session.' })
export class LiveAudience {
  @Field(() => [ID])
  userIds: string[];

  @Field(() => String, { nullable: true })
  endCursor: string | null;

  @Field(() => Boolean)
  hasNextPage: boolean;
}

@ObjectType({ description: 'Sessions that were made by one rule.' })
export class LiveSeriesCreated {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  rrule: string;

  @Field(() => TimeZone)
  timeZone: string;

  @Field(() => [ID])
  sessionIds: string[];
}
