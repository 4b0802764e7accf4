import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions, Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { callJoinOf, calling, createCall, endCall, enterCall } from '../commands/call.js';
import { CALL_READERS, CALL_SHOWN, EDITORS, MEMBERS, TEAM } from '../entities/access.js';
import { LiveCall, LiveCallMember } from '../entities/call.js';
import { LiveJoin } from '../entities/values.js';
import { CreateLiveCallInput } from '../inputs/call.js';
import { membersOf, visibleCall } from '../queries/call.js';
import { User } from '../stubs.js';

@Resolver(() => LiveCall)
export class CallResolver {
  @Access(CALL_READERS)
  @Query(() => LiveCall, { nullable: true, description: 'A call that the caller has a part in.' })
  liveCall(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveCall | null> {
    return visibleCall(ctx, id);
  }

  @Prepare(calling)
  @Access(EDITORS)
  @Mutation(() => LiveCall, {
    description: 'Makes a call. Members call the people of a visit or conversation of theirs; one that is open for it is answered.',
  })
  createLiveCall(@Arg('input', () => CreateLiveCallInput) input: CreateLiveCallInput, @Ctx() ctx: Context): Promise<LiveCall> {
    return createCall(ctx, input);
  }

  @OwnTransactions('entering again gives another token for the same participant')
  @Access(MEMBERS)
  @Mutation(() => LiveJoin, { description: 'A token for the call, from 15 minutes before it opens until 30 minutes after it closes.' })
  async liveCallToken(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveJoin> {
    return callJoinOf(ctx, await ctx.host.transaction(own => enterCall(own, id), ctx.request));
  }

  @Access(TEAM)
  @Mutation(() => LiveCall, { description: 'Ends a call: either of two, the host of a group.' })
  endLiveCall(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveCall> {
    return endCall(ctx, id);
  }

  @Access(CALL_SHOWN)
  @FieldResolver(() => [LiveCallMember])
  participants(@Root() { id }: LiveCall, @Ctx() ctx: Context): Promise<LiveCallMember[]> {
    return membersOf(ctx, id);
  }
}

@Resolver(() => LiveCallMember)
export class CallMemberResolver {
  @Access(CALL_SHOWN)
  @FieldResolver(() => User)
  user(@Root() { userId }: LiveCallMember): User {
    return { id: userId };
  }
}
