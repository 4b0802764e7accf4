import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OAuthClient } from './client.js';
import { User } from './user.js';

export enum OAuthGrantStatus {
  ACTIVE = 'active',
  STALE = 'stale',
  REVOKED = 'revoked',
}

export enum OAuthGrantRevokedBy {
  USER = 'user',
  STAFF = 'staff',
  SYSTEM = 'system',
}
export enum OAuthGrantInclude {
  REVOKED = 'revoked',
}
registerEnums(
  { OAuthGrantStatus, OAuthGrantRevokedBy, OAuthGrantInclude },
  {
    OAuthGrantInclude: 'REVOKED adds the grants that were revoked in the last 90 days.',
    OAuthGrantStatus: 'STALE: a refresh token went 90 days unused, so the next sign-in through the app asks again.',
  },
);

/** One user's consent to one app; unique per pair while not revoked. */
@Access({ service: 'admin:identity', user: 'manage:connected_apps', staff: 'admin:identity:read', internal: true })
@Directive('@key(fields: "id")')
@ObjectType({ description: "One user's consent to one app." })
@Entity({ tableName: 'oauth_grant' })
export class OAuthGrant {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => ID)
  @ManyToOne({ entity: () => OAuthClient, mapToPk: true, fieldName: 'client_id' })
  clientId: string;

  @Field(() => [String], { description: 'What the user has granted.' })
  @Property({ type: 'string[]', columnType: 'text[]' })
  scopes: string[];

  @Field(() => [String], { description: 'What the user was asked for and did not tick.' })
  @Property({ type: 'string[]', columnType: 'text[]', defaultRaw: "'{}'" })
  declinedScopes: string[] = [];

  @Field(() => OAuthGrantStatus)
  @Enum({ items: () => OAuthGrantStatus, type: 'text' })
  status: OAuthGrantStatus = OAuthGrantStatus.ACTIVE;

  @Field(() => DateTime, { description: 'Since when the consent stands; a renewed one begins anew.' })
  @Property({ type: 'datetime', length: 3 })
  grantedAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastUsedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  revokedAt: Date | null = null;

  @Field(() => OAuthGrantRevokedBy, { nullable: true })
  @Enum({ items: () => OAuthGrantRevokedBy, type: 'text', nullable: true })
  revokedBy: OAuthGrantRevokedBy | null = null;

  @Field(() => Int, { description: 'Grows with every change; carried by identity.grant.changed.v1.' })
  @Property({ type: 'integer', default: 1 })
  version: number = 1;

  /** Since when the grant has changed with its client and this is still to be told; null: nothing is owed. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  announceDueAt: Date | null = null;
}

const OWN = { user: 'manage:connected_apps' } as const;

@Access(OWN)
@ObjectType({ description: 'A scope that an app was granted, and whether the app has any use for it.' })
export class ConnectedAppScope {
  @Field(() => String)
  name: string;

  @Field(() => String, { description: 'As the consent page shows it.' })
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
