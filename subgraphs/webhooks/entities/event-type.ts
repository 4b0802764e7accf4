import { Field, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access.js';
import { connectionOf } from '../../../runtime/page.js';
import { DateTime, JSONObject } from '../../../runtime/scalars.js';

/** A catalogue entry as the developer portal shows it. */
@Access({ service: '*', staff: 'admin:webhooks:read|admin:webhooks:manage' })
@ObjectType({ description: 'An event type that a webhook subscription may hold.' })
export class WebhookEventType {
  @Field(() => String)
  name: string;

  @Field(() => String, { description: 'When it is emitted.' })
  description: string;

  @Field(() => String, { description: "Scope that the client and the user's grant must hold." })
  scope: string;

  @Field(() => Boolean, { description: 'Health data: a third-party client needs an agreement.' })
  sensitive: boolean;

  @Field(() => Boolean, { description: 'Whether the named client is registered for the scope; false where none is named.' })
  granted: boolean;

  @Field(() => Boolean, { description: 'Whether the named client may subscribe to it now; false where none is named.' })
  subscribable: boolean;

  @Field(() => JSONObject, { description: 'JSON Schema of `data`.' })
  jsonSchema: object;

  @Field(() => JSONObject, { description: 'The body of a delivery.' })
  example: object;

  @Field(() => DateTime, { nullable: true })
  deprecatedAt: Date | null;
}

export const WebhookEventTypeConnection = connectionOf(WebhookEventType, 'WebhookEventType');
