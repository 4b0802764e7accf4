import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { MANAGERS } from './subscription.js';

/** A machine client that sees and changes webhooks of its own clients only: the backend of an outside developer's portal. */
@Access(MANAGERS)
@ObjectType({ description: 'A machine client and the only clients whose webhooks it may manage.' })
@Entity({ tableName: 'webhook_manager' })
export class WebhookManager {
  @Field(() => ID, { name: 'managerClientId', description: 'OAuth client_id of the machine client.' })
  @PrimaryKey({ type: 'text' })
  id: string;

  @Field(() => [String], { description: 'Sorted; empty: it sees nothing.' })
  @Property({ type: 'string[]', columnType: 'text[]' })
  clientIds: string[];

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;
}

export const WebhookManagerConnection = connectionOf(WebhookManager, 'WebhookManager');
