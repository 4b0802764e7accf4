import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { READERS } from './subscription.js';
import { WebhookNoticeKind } from './enums.js';

/** A notice to the owner of a subscription; comms sends it. */
@Access(READERS)
@ObjectType({ description: 'Something that the owner of a subscription was told.' })
@Entity({ tableName: 'webhook_notice' })
export class WebhookNotice {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  subscriptionId: string;

  @Field(() => WebhookNoticeKind)
  @Property({ type: 'text' })
  kind: WebhookNoticeKind;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  at: Date;

  @Field(() => String)
  @Property({ type: 'text' })
  message: string;
}

export const WebhookNoticeConnection = connectionOf(WebhookNotice, 'WebhookNotice');
