import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { issueTicket } from '../../../runtime/streams/tickets.js';
import { changeItem, markItems } from '../commands/inbox.js';
import { linkTo } from '../commands/links.js';
import { inboxFeed, WHOSE_TICKET } from '../commands/stream.js';
import { INBOX_READERS, INBOX_WATCHERS, INBOX_WRITERS, SERVICES } from '../entities/access.js';
import { CommsInboxItemStatus } from '../entities/enums.js';
import { CommsInboxChange, CommsInboxCount, CommsInboxItem, CommsInboxItemConnection, CommsInboxStreamTicket } from '../entities/inbox.js';
import { CommsEntity } from '../entities/message.js';
import { CommsInboxArgs, MarkCommsInboxInput, UpdateCommsInboxItemInput } from '../inputs/inbox.js';
import { countItems, listItems, textOfItem } from '../queries/inbox.js';
import { seesTopic } from '../rules/disclosure.js';

const ANYBODYS = ruleOf(SERVICES);
const own = ({ caller }: Context): { userId?: string } => (mayAccess(ANYBODYS, caller) ? {} : { userId: caller.userId! });

@Resolver(() => CommsInboxItem)
export class InboxResolver {
  @Access({ ...INBOX_READERS, self: true })
  @Query(() => CommsInboxItemConnection, { description: 'Items of the app, newest first.' })
  commsInbox(@Args(() => CommsInboxArgs) args: CommsInboxArgs, @Ctx() ctx: Context): Promise<Connection<CommsInboxItem>> {
    return listItems(ctx, args);
  }

  @Access({ ...INBOX_READERS, self: true })
  @Query(() => CommsInboxCount, { description: 'How many items wait.' })
  commsInboxCount(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true }) userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<CommsInboxCount> {
    return countItems(ctx, ctx.subject(userId));
  }

  @Access(INBOX_READERS)
  @Query(() => CommsInboxItem, { nullable: true, description: 'One item.' })
  commsInboxItem(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommsInboxItem | null> {
    return findRow(ctx, CommsInboxItem, { id, ...own(ctx) });
  }

  @Access(INBOX_WRITERS)
  @Mutation(() => CommsInboxItem, { description: 'Marks an item; again: no change.' })
  updateCommsInboxItem(
    @Arg('input', () => UpdateCommsInboxItemInput) { id, action }: UpdateCommsInboxItemInput,
    @Ctx() ctx: Context,
  ): Promise<CommsInboxItem> {
    return changeItem(ctx, id, action);
  }

  @Access(INBOX_WRITERS)
  @Mutation(() => CommsInboxChange, { description: 'Marks all items up to one as seen or read.' })
  async markCommsInbox(
    @Arg('input', () => MarkCommsInboxInput) { upTo, topic, as }: MarkCommsInboxInput,
    @Ctx() ctx: Context,
  ): Promise<CommsInboxChange> {
    if (as !== CommsInboxItemStatus.SEEN && as !== CommsInboxItemStatus.READ) invalid('/input/as', 'must be SEEN or READ');
    return { changed: await markItems(ctx, upTo, topic ?? null, as) };
  }

  @Access(INBOX_WATCHERS)
  @Mutation(() => CommsInboxStreamTicket, { description: 'Opens the stream of the own inbox in an address, for 15 minutes.' })
  async commsInboxStreamTicket(@Ctx() ctx: Context): Promise<CommsInboxStreamTicket> {
    return { ...issueTicket(ctx.host, inboxFeed.keyOf(WHOSE_TICKET), ctx.caller), path: '/v1/inbox/stream' };
  }

  @FieldResolver(() => String, { description: 'Key of its template; `health` for apps that may not see what it is about.' })
  kind(@Root() item: CommsInboxItem, @Ctx() ctx: Context): string {
    return seesTopic(ctx.caller, item.topic) ? item.template : 'health';
  }

  @FieldResolver(() => String)
  title(@Root() item: CommsInboxItem, @Ctx() ctx: Context): string {
    const text = textOfItem(ctx, item);
    return seesTopic(ctx.caller, item.topic) ? text.title : (text.neutral ?? '');
  }

  @FieldResolver(() => String)
  body(@Root() item: CommsInboxItem, @Ctx() ctx: Context): string {
    const text = textOfItem(ctx, item);
    return seesTopic(ctx.caller, item.topic) ? text.body : (text.neutral ?? '');
  }

  @FieldResolver(() => String, { description: 'Why one gets it.' })
  why(@Root() item: CommsInboxItem, @Ctx() ctx: Context): string {
    return textOfItem(ctx, item).why;
  }

  @FieldResolver(() => String, { nullable: true })
  deepLink(@Root() item: CommsInboxItem, @Ctx() ctx: Context): string {
    return item.link !== null && seesTopic(ctx.caller, item.topic) ? item.link : linkTo(ctx, `/m/${item.messageId}`);
  }

  @FieldResolver(() => CommsEntity, { nullable: true })
  entity(@Root() { topic, entityType, entityId }: CommsInboxItem, @Ctx() ctx: Context): CommsEntity | null {
    return entityType !== null && entityId !== null && seesTopic(ctx.caller, topic) ? { type: entityType, id: entityId } : null;
  }
}
