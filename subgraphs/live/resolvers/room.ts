import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { OwnTransactions, Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { issueTicket } from '../../../runtime/streams/tickets.js';
import { sessionFeed } from '../commands/feeds.js';
import { chatToken, enterSession, joining, joinOf } from '../commands/join.js';
import { removeParticipant, requireVisible, setRole } from '../commands/participant.js';
import { deleteRecording } from '../commands/recording.js';
import { MEMBERS, MEMBER_READERS, STAFF_EDITORS, TEAM } from '../entities/access.js';
import { LiveSession } from '../entities/session.js';
import { LiveChatToken, LiveJoin, LiveStreamTicket } from '../entities/values.js';
import { RemoveLiveParticipantInput, SetLiveParticipantRoleInput } from '../inputs/participant.js';
import { visibleSession } from '../queries/people.js';

@Resolver(() => LiveJoin)
export class RoomResolver {
  @Prepare(joining)
  @OwnTransactions('joining again gives another token for the same participant')
  @Access(MEMBERS)
  @Mutation(() => LiveJoin, { description: 'A token for the room; again: another for the same participant.' })
  async joinLiveSession(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveJoin> {
    const entry = await ctx.host.transaction(own => {
      own.facts = ctx.facts;
      return enterSession(own, id);
    }, ctx.request);
    return joinOf(ctx, entry);
  }

  @Access(MEMBERS)
  @Query(() => LiveChatToken, { description: 'A token for the chat, from 15 minutes before the start until 15 minutes after the end.' })
  liveChatToken(@Rule({ pattern: UUID }) @Arg('sessionId', () => ID) sessionId: string, @Ctx() ctx: Context): Promise<LiveChatToken> {
    return chatToken(ctx, sessionId);
  }

  @Access(MEMBER_READERS)
  @Mutation(() => LiveStreamTicket, { description: 'Opens the stream of a session in an address, for 15 minutes.' })
  async liveStreamTicket(
    @Rule({ pattern: UUID }) @Arg('sessionId', () => ID) sessionId: string,
    @Ctx() ctx: Context,
  ): Promise<LiveStreamTicket> {
    const session = (await visibleSession(ctx, sessionId)) ?? fail('not_found', 'Not found');
    const issued = issueTicket(ctx.host, sessionFeed.keyOf(session.id), ctx.caller);
    return { ...issued, path: `/v1/sessions/${session.id}/stream` };
  }

  @Prepare(requireVisible)
  @Access(TEAM)
  @Mutation(() => LiveSession, { description: 'Removes somebody from the room for the session, or until an instant.' })
  removeLiveParticipant(
    @Arg('input', () => RemoveLiveParticipantInput) input: RemoveLiveParticipantInput,
    @Ctx() ctx: Context,
  ): Promise<LiveSession> {
    return removeParticipant(ctx, input);
  }

  @Prepare(requireVisible)
  @Access(TEAM)
  @Mutation(() => LiveSession, { description: 'Lets somebody in the room speak, or no more.' })
  setLiveParticipantRole(
    @Arg('input', () => SetLiveParticipantRoleInput) input: SetLiveParticipantRoleInput,
    @Ctx() ctx: Context,
  ): Promise<LiveSession> {
    return setRole(ctx, input);
  }

  @Access(STAFF_EDITORS)
  @Mutation(() => Boolean, { description: 'Takes a recording away.' })
  deleteLiveRecording(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<boolean> {
    return deleteRecording(ctx, id);
  }
}
