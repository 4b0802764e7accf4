import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { INBOX_ITEM, INBOX_READERS, INBOX_WATCHERS, INBOX_WRITERS } from './access.js';
import { CommsInboxItemPriority, CommsInboxItemStatus } from './enums.js';

@Access(INBOX_ITEM)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A message in the app. Of health topics an app of others sees only that there is one.' })
@Entity({ tableName: 'inbox_item' })
@Index({ name: 'inbox_item_user_id_created_at', properties: ['userId', 'createdAt', 'id'] })
@Index({ name: 'inbox_item_message_id', properties: ['messageId'] })
@Index({ name: 'inbox_item_group', properties: ['userId', 'groupKey', 'createdAt'], where: 'group_key is not null' })
@Index({ name: 'inbox_item_entity', properties: ['entityType', 'entityId'], where: 'entity_id is not null' })
export class CommsInboxItem {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Property({ type: 'uuid' })
  messageId: string;

  /** Key of its template. */
  @Property({ type: 'text', fieldName: 'kind' })
  template: string;

  @Field(() => String)
  @Property({ type: 'text' })
  topic: string;

  @Property({ type: 'boolean' })
  isClinical: boolean;

  /** Title, body, neutral body and reason. */
  @Property({ type: 'blob', hidden: true, comment: SECRET })
  textSealed: Buffer;

  @Property({ type: 'text', nullable: true })
  link: string | null = null;

  @Property({ type: 'text', nullable: true })
  entityType: string | null = null;

  @Property({ type: 'text', nullable: true })
  entityId: string | null = null;

  @Property({ type: 'text', nullable: true })
  groupKey: string | null = null;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1 })
  count: number = 1;

  @Field(() => CommsInboxItemStatus)
  @Enum({ items: () => CommsInboxItemStatus, type: 'text' })
  status: CommsInboxItemStatus = CommsInboxItemStatus.UNSEEN;

  @Field(() => CommsInboxItemPriority)
  @Enum({ items: () => CommsInboxItemPriority, type: 'text' })
  priority: CommsInboxItemPriority = CommsInboxItemPriority.NORMAL;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  seenAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  readAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  archivedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;
}

export const CommsInboxItemConnection = connectionOf<CommsInboxItem>(CommsInboxItem, 'CommsInboxItem');

@Access(INBOX_READERS)
@ObjectType({ description: 'How many items wait.' })
export class CommsInboxCount {
  @Field(() => Int)
  unseen: number;

  @Field(() => Int)
  unread: number;
}

@Access(INBOX_WRITERS)
@ObjectType({ description: 'How many items changed.' })
export class CommsInboxChange {
  @Field(() => Int)
  changed: number;
}

@Access(INBOX_WATCHERS)
@ObjectType({ description: 'Opens the stream of the own inbox in an address, for clients that cannot send headers.' })
export class CommsInboxStreamTicket {
  @Field(() => String)
  ticket: string;

  @Field(() => DateTime)
  expiresAt: Date;

  @Field(() => String)
  path: string;
}
