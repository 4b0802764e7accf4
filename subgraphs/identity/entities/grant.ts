import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OAuthClient } from './client.js';
import { User } from './user.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

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
registerEnums(
  { OAuthGrantStatus, OAuthGrantRevokedBy },
  { OAuthGrantStatus: 'STALE: a refresh token went 90 days unused, so the next sign-in through the app asks again.' },
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
}
