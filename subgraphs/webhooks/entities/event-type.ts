import { Field, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';

@ObjectType({ description: 'An example as it would be sent, signed with a secret that is published for tests of receivers.' })
export class WebhookSampleSignature {
  @Field(() => String, { description: 'Published; signs nothing that is delivered.' })
  secret: string;

  @Field(() => String, { description: 'The raw body, byte for byte.' })
  body: string;

  @Field(() => String, { description: 'X-Platform-Signature of the body.' })
  signature: string;
}

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

  @Field(() => WebhookSampleSignature)
  sampleSignature: WebhookSampleSignature;

  @Field(() => DateTime, { nullable: true })
  deprecatedAt: Date | null;
}

export const WebhookEventTypeConnection = connectionOf(WebhookEventType, 'WebhookEventType');
