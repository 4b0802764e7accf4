import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** An account, of identity; this service adds `webhookDisclosures`. */
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An account.' })
export class User {
  @Field(() => ID)
  id: string;
}

/** An application that may ask for tokens, of identity; this service adds its webhooks. */
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An application that may ask for tokens.' })
export class OAuthClient {
  @Field(() => ID)
  id: string;
}

/** An event of the log, of events; this service adds its deliveries. */
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An event of the log.' })
export class PlatformEvent {
  @Field(() => ID)
  id: string;
}

/** A kind of event, of events; this service adds what a client may do with it. */
@Directive('@key(fields: "name")')
@ObjectType({ description: 'A kind of event, declared once.' })
export class EventType {
  @Field(() => String)
  name: string;
}
