import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OAuthClient } from '../stubs.js';

/** What one app received about the member, without the payload. */
@Access({ user: 'manage:connected_apps' })
@ObjectType({ description: 'One event about the member that one app has received.' })
export class WebhookDisclosure {
  @Field(() => OAuthClient)
  client: OAuthClient;

  @Field(() => String)
  eventType: string;

  @Field(() => DateTime)
  occurredAt: Date;

  @Field(() => DateTime, { description: 'When the app received it first.' })
  deliveredAt: Date;

  @Field(() => Int, { description: 'How often the app received it: at several endpoints, or again.' })
  count: number;
}

export const WebhookDisclosureConnection = connectionOf(WebhookDisclosure, 'WebhookDisclosure');
