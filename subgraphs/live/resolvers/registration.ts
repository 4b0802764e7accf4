import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, ID, Info, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions, Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { admissions } from '../commands/admission.js';
import { asked, cancelOwn, denied } from '../commands/registration.js';
import { COMMS, EDITORS, MEMBERS, READERS } from '../entities/access.js';
import { LiveRegistration } from '../entities/registration.js';
import { LiveSession } from '../entities/session.js';
import { LiveAttendanceSummary, LiveAudience } from '../entities/values.js';
import { RegisterForLiveSessionInput } from '../inputs/registration.js';
import { attendanceOf, audiencePage, positionOf } from '../queries/registration.js';
import { calendarText } from '../queries/session.js';
import { User } from '../stubs.js';

@Resolver(() => LiveRegistration)
export class RegistrationResolver {
  @Prepare(asked)
  @OwnTransactions('the transaction claims the key itself')
  @Access(EDITORS)
  @Mutation(() => LiveRegistration, { description: 'Takes a seat or a place in the queue; what is there already is answered.' })
  registerForLiveSession(
    @Arg('input', () => RegisterForLiveSessionInput) input: RegisterForLiveSessionInput,
    @Ctx() ctx: Context,
    @Info() { path }: GraphQLResolveInfo,
  ): Promise<LiveRegistration> {
    return admissions.run({ ctx, input, path: String(path.key) });
  }

  @Prepare(denied)
  @Access(MEMBERS)
  @Mutation(() => LiveRegistration, { description: "Gives up the caller's seat or place; the next in the queue gets it at once." })
  cancelMyLiveRegistration(@Arg('sessionId', () => ID) sessionId: string, @Ctx() ctx: Context): Promise<LiveRegistration> {
    return cancelOwn(ctx, sessionId);
  }

  @Access(COMMS)
  @Query(() => LiveRegistration, { nullable: true, description: 'A registration of any status, for messages about it.' })
  liveRegistration(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveRegistration | null> {
    return findRow(ctx, LiveRegistration, { id });
  }

  @Access(COMMS)
  @Query(() => LiveAudience, { description: 'Who has a seat, confirmed or offered.' })
  liveSessionAudience(
    @Rule({ pattern: UUID }) @Arg('sessionId', () => ID) sessionId: string,
    @Rule({ min: 1, max: 1_000 }) @Arg('first', () => Int, { defaultValue: 1_000 }) first: number,
    @Rule({ maxLength: 512 }) @Arg('after', () => String, { nullable: true }) after: string | null,
    @Ctx() ctx: Context,
  ): Promise<LiveAudience> {
    return audiencePage(ctx, sessionId, first, after);
  }

  @Access({ ...READERS, internal: 'comms' })
  @FieldResolver(() => LiveSession)
  session(@Root() { sessionId }: LiveRegistration, @Ctx() ctx: Context): Promise<LiveSession | null> {
    return loadRow(ctx, LiveSession, 'id', sessionId);
  }

  @Access({ ...READERS, internal: 'comms' })
  @FieldResolver(() => User)
  user(@Root() { userId }: LiveRegistration): User {
    return { id: userId };
  }

  @Access(READERS)
  @FieldResolver(() => Int, { nullable: true, description: 'In the queue, from 1, of one that waits.' })
  position(@Root() registration: LiveRegistration, @Ctx() ctx: Context): Promise<number | null> {
    return positionOf(ctx, registration);
  }

  @Access(READERS)
  @FieldResolver(() => LiveAttendanceSummary, { nullable: true, description: 'Null for somebody who never came.' })
  attendance(@Root() registration: LiveRegistration, @Ctx() ctx: Context): Promise<LiveAttendanceSummary | null> {
    return attendanceOf(ctx, registration);
  }

  @Access({ ...READERS, internal: 'comms' })
  @FieldResolver(() => String, { description: 'The session as an iCalendar file.' })
  async calendarFile(
    @Root() { sessionId }: LiveRegistration,
    @Arg('detail', () => Boolean, { defaultValue: false, description: 'With the title, which a calendar shows to others.' })
    detail: boolean,
    @Ctx() ctx: Context,
  ): Promise<string> {
    return calendarText(ctx, (await loadRow(ctx, LiveSession, 'id', sessionId))!, detail);
  }
}
