import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { READERS } from '../entities/access.js';
import { LiveSessionStatus } from '../entities/enums.js';
import { LiveRecording } from '../entities/recording.js';
import { LiveRegistration, LiveRegistrationConnection } from '../entities/registration.js';
import { LiveSession, LiveSessionConnection } from '../entities/session.js';
import { isOffice } from '../queries/people.js';
import { hostedPage, ownRegistrations, recordingUrl, sessionsOfBrand } from '../queries/session.js';
import { Brand, User } from '../stubs.js';

const NONE = { nodes: [], pageInfo: { endCursor: null, hasNextPage: false } };
const mayAsk = (ctx: Context, userId: string): boolean => isOffice(ctx, 'read') || ctx.caller.userId === userId;

@Resolver(() => User)
export class UserLiveResolver {
  @Access(READERS)
  @FieldResolver(() => LiveRegistrationConnection, { description: 'Newest first; nothing of other users.' })
  async liveRegistrations(
    @Root() { id }: User,
    @Arg('upcoming', () => Boolean, { defaultValue: true, description: 'Those that hold a seat or wait, of sessions that are not over.' })
    upcoming: boolean,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LiveRegistration>> {
    return mayAsk(ctx, id) ? ownRegistrations(ctx, id, upcoming, args) : NONE;
  }

  @Access(READERS)
  @FieldResolver(() => LiveSessionConnection, { description: 'Sessions of whose host team the user is; nothing of other users.' })
  async hostedLiveSessions(
    @Root() { id }: User,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LiveSession>> {
    return mayAsk(ctx, id) ? hostedPage(ctx, id, args) : NONE;
  }
}

@Resolver(() => Brand)
export class BrandLiveResolver {
  @Access(READERS)
  @FieldResolver(() => LiveSessionConnection, { description: 'Public sessions of the brand.' })
  liveSessions(
    @Root() { id }: Brand,
    @Arg('status', () => [LiveSessionStatus], { nullable: true }) status: LiveSessionStatus[] | null,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LiveSession>> {
    return sessionsOfBrand(ctx, id, { ...args, status });
  }
}

@Resolver(() => LiveRecording)
export class RecordingResolver {
  @Access(READERS)
  @FieldResolver(() => Url, { nullable: true, description: 'Signed for ten minutes.' })
  playbackUrl(@Root() recording: LiveRecording, @Ctx() ctx: Context): Promise<string | null> {
    return recordingUrl(ctx, recording);
  }

  @Access(READERS)
  @FieldResolver(() => Url, { nullable: true, description: 'WebVTT; null where the vendor makes none.' })
  transcriptUrl(): null {
    return null;
  }

  @Access(READERS)
  @FieldResolver(() => LiveSession)
  session(@Root() { sessionId }: LiveRecording, @Ctx() ctx: Context): Promise<LiveSession | null> {
    return loadRow(ctx, LiveSession, 'id', sessionId);
  }
}
