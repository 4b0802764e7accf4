import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OAuthClient } from './client.js';

const OWN = { user: 'manage:connected_apps' } as const;

@Access(OWN)
@ObjectType({ description: 'A scope that an app was granted, and whether the app has any use for it.' })
export class ConnectedAppScope {
  @Field(() => String)
  name: string;

  @Field(() => String, { description: 'In the words of the consent page.' })
  title: string;

  @Field(() => Boolean, { description: 'It opens health data.' })
  sensitive: boolean;

  @Field(() => DateTime)
  grantedAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'Null: never used. A use may take a minute to show.' })
  lastUsedAt: Date | null;
}

/** An app that a user has let in, as its owner sees it. Source: identity 2, 9.4. */
@Access(OWN)
@ObjectType({ description: 'An app that one has let in.' })
export class ConnectedApp {
  @Field(() => OAuthClient)
  client: OAuthClient;

  @Field(() => ID)
  grantId: string;

  @Field(() => [ConnectedAppScope])
  scopes: ConnectedAppScope[];

  @Field(() => DateTime)
  connectedAt: Date;

  @Field(() => DateTime, { nullable: true })
  lastUsedAt: Date | null;

  @Field(() => Int, { description: 'Devices on which the app is signed in.' })
  devices: number;
}
