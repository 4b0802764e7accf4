import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, requireRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { cancelMessage, sendMessage, sendMessages } from '../commands/send.js';
import { openContent } from '../commands/reading.js';
import { ADMIN_READERS, BULK_SENDERS, MESSAGE_READERS, SENDERS, SERVICES } from '../entities/access.js';
import {
  CapturedCommsMessage,
  CommsBatch,
  CommsEntity,
  CommsExplanation,
  CommsMessage,
  CommsMessageAttempt,
  CommsMessageConnection,
  CommsSendRequest,
  CommsStats,
} from '../entities/message.js';
import { CapturedArgs, CommsStatsArgs, MyMessagesArgs, SendCommsMessageInput, SendCommsMessagesInput } from '../inputs/messages.js';
import { settingsOf } from '../ports/settings.js';
import { attemptsOf, capturedOf, listMessages, messagesOfRequest, ownRows, statsOf } from '../queries/messages.js';
import { seesTopic } from '../rules/disclosure.js';

@Resolver(() => CommsMessage)
export class MessageResolver {
  @Access({ ...MESSAGE_READERS, self: true })
  @Query(() => CommsMessageConnection, {
    description: 'Messages, newest first. Services and staff name a person, or what a message is about.',
  })
  commsMessages(@Args(() => MyMessagesArgs) args: MyMessagesArgs, @Ctx() ctx: Context): Promise<Connection<CommsMessage>> {
    return listMessages(ctx, args);
  }

  @Access(MESSAGE_READERS)
  @Query(() => CommsMessage, { nullable: true, description: 'One message.' })
  commsMessage(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommsMessage | null> {
    return findRow(ctx, CommsMessage, { id, ...ownRows(ctx) });
  }

  @Access(SENDERS)
  @Mutation(() => CommsSendRequest, { description: 'Asks for a message to a person, by id: the address is found when it is sent.' })
  sendCommsMessage(
    @Arg('input', () => SendCommsMessageInput) input: SendCommsMessageInput,
    @Ctx() ctx: Context,
  ): Promise<CommsSendRequest> {
    return sendMessage(ctx, input);
  }

  @Access(BULK_SENDERS)
  @Mutation(() => CommsBatch, { description: 'The same message to at most 1000 people; what is wrong with one stops no other.' })
  sendCommsMessages(@Arg('input', () => SendCommsMessagesInput) input: SendCommsMessagesInput, @Ctx() ctx: Context): Promise<CommsBatch> {
    return sendMessages(ctx, input);
  }

  @Access(BULK_SENDERS)
  @Mutation(() => CommsMessage, { description: 'Stops a message that has not left.' })
  cancelCommsMessage(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommsMessage> {
    return cancelMessage(ctx, id);
  }

  @Access(ADMIN_READERS)
  @Query(() => CommsExplanation, { nullable: true, description: 'Every check of a message, in its order, and when it is looked at next.' })
  async explainCommsMessage(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommsExplanation> {
    const message = await requireRow(ctx, CommsMessage, { id });
    const waits = ['pending', 'scheduled', 'queued'].includes(message.status);
    return { message, checks: message.checks, nextAt: waits ? message.nextAt : null };
  }

  @Access(ADMIN_READERS)
  @Query(() => [CommsStats], { description: 'Figures of a time; no person among them.' })
  commsStats(@Args(() => CommsStatsArgs) args: CommsStatsArgs, @Ctx() ctx: Context): Promise<CommsStats[]> {
    return statsOf(ctx, args);
  }

  @Access(SERVICES)
  @Query(() => [CapturedCommsMessage], { description: 'What the capture provider holds, newest first; not in production.' })
  async capturedCommsMessages(@Args(() => CapturedArgs) args: CapturedArgs, @Ctx() ctx: Context): Promise<CapturedCommsMessage[]> {
    if (ctx.host.config.production) fail('not_found', 'Not found');
    void settingsOf(ctx.host);
    return capturedOf(ctx, args);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Null for apps that may not see what it is about.' })
  templateKey(@Root() message: CommsMessage, @Ctx() ctx: Context): string | null {
    return seesTopic(ctx.caller, message.topic) ? message.template : null;
  }

  @FieldResolver(() => CommsEntity, { nullable: true })
  entity(@Root() { topic, entityType, entityId }: CommsMessage, @Ctx() ctx: Context): CommsEntity | null {
    return entityType !== null && entityId !== null && seesTopic(ctx.caller, topic) ? { type: entityType, id: entityId } : null;
  }

  @FieldResolver(() => [CommsMessageAttempt])
  attempts(@Root() { id }: CommsMessage, @Ctx() ctx: Context): Promise<CommsMessageAttempt[]> {
    return attemptsOf(ctx, id);
  }

  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: 'Its words, for thirty days; for staff with comms:content, each read audited.',
  })
  content(@Root() message: CommsMessage, @Ctx() ctx: Context): Promise<Record<string, unknown> | null> {
    return openContent(ctx, message);
  }
}

@Resolver(() => CommsSendRequest)
export class SendRequestResolver {
  @FieldResolver(() => [CommsMessage], { description: 'One for each recipient and channel.' })
  messages(@Root() { id }: CommsSendRequest, @Ctx() ctx: Context): Promise<CommsMessage[]> {
    return messagesOfRequest(ctx, id);
  }

  @FieldResolver(() => CommsEntity, { nullable: true })
  entity(@Root() { entityType, entityId }: CommsSendRequest): CommsEntity | null {
    return entityType !== null && entityId !== null ? { type: entityType, id: entityId } : null;
  }
}
