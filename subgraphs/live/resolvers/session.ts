import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { createSeries } from '../commands/series.js';
import { changing, createSession, deleteSession, hosting, updateSession } from '../commands/session.js';
import { assignHost, assigning } from '../commands/team.js';
import { ADMIN_READERS, EDITORS, READERS, STAFF_EDITORS, VIEWERS } from '../entities/access.js';
import { LiveHostRole, LiveInclude, LiveRegistrationStatus, LiveSessionKind, LiveSessionStatus } from '../entities/enums.js';
import { LiveQuestion, LiveQuestionConnection } from '../entities/question.js';
import { LiveRecording, LiveRecordingConnection } from '../entities/recording.js';
import { LiveRegistration, LiveRegistrationConnection } from '../entities/registration.js';
import { LiveSeries, LiveSession, LiveSessionConnection } from '../entities/session.js';
import { LiveAccess, LiveSeriesCreated, LiveSeriesSummary, LiveTeamMember } from '../entities/values.js';
import { LiveQuestionsArgs } from '../inputs/question.js';
import { LiveRegistrationsArgs } from '../inputs/registration.js';
import {
  AdminLiveSessionsArgs,
  AssignLiveHostInput,
  CreateLiveSeriesInput,
  CreateLiveSessionInput,
  LiveSessionsArgs,
  UpdateLiveSessionInput,
} from '../inputs/session.js';
import { providerOf } from '../ports/providers.js';
import { isOffice, isSelfRemoved, ownRegistration, ownRole, roleOf, teamOf, visibleSession } from '../queries/people.js';
import { questionsPage } from '../queries/question.js';
import { registrationsPage } from '../queries/registration.js';
import { accessOf, adminSessionsPage, recordingsPage, sessionsPage } from '../queries/session.js';
import { sessionRoom } from '../rules/participant.js';
import { Brand, User } from '../stubs.js';

@Resolver(() => LiveSession)
export class SessionResolver {
  @Access(VIEWERS)
  @Query(() => LiveSessionConnection, { description: 'Public sessions that are scheduled or live, soonest first.' })
  liveSessions(@Args(() => LiveSessionsArgs) args: LiveSessionsArgs, @Ctx() ctx: Context): Promise<Connection<LiveSession>> {
    return sessionsPage(ctx, args);
  }

  @Access(ADMIN_READERS)
  @Query(() => LiveSessionConnection, { description: 'Sessions of every brand, visibility and status.' })
  adminLiveSessions(
    @Args(() => AdminLiveSessionsArgs) { include, ...args }: AdminLiveSessionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LiveSession>> {
    return adminSessionsPage(ctx, args, include === LiveInclude.DELETED);
  }

  @Access({ ...VIEWERS, internal: 'comms' })
  @Query(() => LiveSession, { nullable: true, description: 'A session that the caller may know of.' })
  liveSession(
    @Arg('id', () => ID) id: string,
    @Arg('include', () => LiveInclude, { nullable: true, description: 'For services and staff.' }) include: LiveInclude | null,
    @Ctx() ctx: Context,
  ): Promise<LiveSession | null> {
    return visibleSession(ctx, id, include === LiveInclude.DELETED);
  }

  @Prepare(hosting)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Makes a session. Members need the entitlement `live.host`, and host it themselves.' })
  createLiveSession(@Arg('input', () => CreateLiveSessionInput) input: CreateLiveSessionInput, @Ctx() ctx: Context): Promise<LiveSession> {
    return createSession(ctx, input);
  }

  @Prepare(hosting)
  @Access(STAFF_EDITORS)
  @Mutation(() => LiveSeriesCreated, {
    description: 'Makes one session for each date of a rule, at the same time of day by the wall clock.',
  })
  createLiveSeries(
    @Arg('input', () => CreateLiveSeriesInput) input: CreateLiveSeriesInput,
    @Ctx() ctx: Context,
  ): Promise<LiveSeriesCreated> {
    return createSeries(ctx, input);
  }

  @Prepare(changing)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Changes a session, then publishes, starts, ends or cancels it.' })
  updateLiveSession(@Arg('input', () => UpdateLiveSessionInput) input: UpdateLiveSessionInput, @Ctx() ctx: Context): Promise<LiveSession> {
    return updateSession(ctx, input);
  }

  @Prepare(changing)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Schedules a draft.' })
  publishLiveSession(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveSession> {
    return updateSession(ctx, { id, status: LiveSessionStatus.SCHEDULED });
  }

  @Prepare(changing)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Puts a session on air, at most 60 minutes early.' })
  startLiveSession(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveSession> {
    return updateSession(ctx, { id, status: LiveSessionStatus.LIVE });
  }

  @Prepare(changing)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Ends a session.' })
  endLiveSession(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveSession> {
    return updateSession(ctx, { id, status: LiveSessionStatus.ENDED });
  }

  @Prepare(changing)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Cancels a scheduled session.' })
  cancelLiveSession(
    @Rule({ pattern: UUID }) @Arg('id', () => ID) id: string,
    @Rule({ pattern: '^(host_unavailable|low_demand|technical|host_no_show|other)$' })
    @Arg('reason', () => String, { nullable: true })
    reason: string | null,
    @Ctx() ctx: Context,
  ): Promise<LiveSession> {
    return updateSession(ctx, { id, status: LiveSessionStatus.CANCELLED, cancelReason: reason });
  }

  @Prepare(changing)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Deletes a draft, cancels what is scheduled, hides what is over.' })
  deleteLiveSession(
    @Rule({ pattern: UUID }) @Arg('id', () => ID) id: string,
    @Arg('hide', () => Boolean, { defaultValue: false, description: 'Hides one that is over; services and staff only.' }) hide: boolean,
    @Ctx() ctx: Context,
  ): Promise<LiveSession> {
    return deleteSession(ctx, id, hide);
  }

  @Prepare(assigning)
  @Access(EDITORS)
  @Mutation(() => LiveSession, { description: 'Gives somebody a part in the host team, hands the session over, or takes a part away.' })
  assignLiveHost(@Arg('input', () => AssignLiveHostInput) input: AssignLiveHostInput, @Ctx() ctx: Context): Promise<LiveSession> {
    return assignHost(ctx, input);
  }

  @Access(READERS)
  @FieldResolver(() => Brand)
  brand(@Root() { brandId }: LiveSession): Brand {
    return { id: brandId };
  }

  @Access(READERS)
  @FieldResolver(() => LiveAccess)
  access(@Root() session: LiveSession, @Ctx() ctx: Context): Promise<LiveAccess> {
    return accessOf(ctx, session);
  }

  @Access(READERS)
  @FieldResolver(() => User, { nullable: true, description: 'Null once the account is erased.' })
  async host(@Root() { id }: LiveSession, @Ctx() ctx: Context): Promise<User | null> {
    const host = (await teamOf(ctx, id)).find(({ role }) => role === LiveHostRole.HOST);
    return host ? { id: host.userId } : null;
  }

  @Access(READERS)
  @FieldResolver(() => [LiveTeamMember])
  hosts(@Root() { id }: LiveSession, @Ctx() ctx: Context): Promise<LiveTeamMember[]> {
    return teamOf(ctx, id);
  }

  @Access(READERS)
  @FieldResolver(() => LiveSeriesSummary, { nullable: true })
  series(@Root() { seriesId }: LiveSession, @Ctx() ctx: Context): Promise<LiveSeries | null> | null {
    return seriesId === null ? null : loadRow(ctx, LiveSeries, 'id', seriesId);
  }

  @Access(READERS)
  @FieldResolver(() => LiveRegistration, { nullable: true, description: "The caller's." })
  viewerRegistration(@Root() { id }: LiveSession, @Ctx() ctx: Context): Promise<LiveRegistration | null> {
    return ownRegistration(ctx, id);
  }

  @Access(READERS)
  @FieldResolver(() => Url, { nullable: true, description: 'Of a broadcast that is live, signed for ten minutes, for those who may join.' })
  async playbackUrl(@Root() session: LiveSession, @Ctx() ctx: Context): Promise<string | null> {
    if (session.kind !== LiveSessionKind.BROADCAST || session.status !== LiveSessionStatus.LIVE || !(await mayWatch(ctx, session)))
      return null;
    return providerOf(ctx.host).playbackUrl(sessionRoom(session.id, session.roomEpoch), null);
  }

  @Access(READERS)
  @FieldResolver(() => LiveQuestionConnection, { description: 'What is approved and the own; all for the host team.' })
  questions(
    @Root() session: LiveSession,
    @Args(() => LiveQuestionsArgs) args: LiveQuestionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LiveQuestion>> {
    return questionsPage(ctx, session, args);
  }

  @Access(READERS)
  @FieldResolver(() => LiveRegistrationConnection, {
    description: 'Newest first, the waitlist in its order; for the host team, services and staff.',
  })
  async registrations(
    @Root() { id }: LiveSession,
    @Args(() => LiveRegistrationsArgs) { status, ...paging }: LiveRegistrationsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LiveRegistration>> {
    if (!isOffice(ctx, 'read') && (await roleOf(ctx, id)) === null) fail('not_found', 'Not found');
    return registrationsPage(ctx, id, status, paging);
  }

  @Access(READERS)
  @FieldResolver(() => LiveRecordingConnection)
  recordings(@Root() session: LiveSession, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<LiveRecording>> {
    return recordingsPage(ctx, session, args);
  }
}

/** Whether the caller could join now. */
async function mayWatch(ctx: Context, session: LiveSession): Promise<boolean> {
  if (isOffice(ctx, 'read') || (await ownRole(ctx, session.id)) !== null) return true;
  if (!(await accessOf(ctx, session)).allowed || (await isSelfRemoved(ctx, session.id))) return false;
  return !session.registrationRequired || (await ownRegistration(ctx, session.id))?.status === LiveRegistrationStatus.CONFIRMED;
}

@Resolver(() => LiveTeamMember)
export class TeamMemberResolver {
  @Access(READERS)
  @FieldResolver(() => User)
  user(@Root() { userId }: LiveTeamMember): User {
    return { id: userId };
  }
}
