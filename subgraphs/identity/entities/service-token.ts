import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OAuthClient } from './client.js';

/** A service token that somebody asked for by name; its id is the token's `jti`, its value is kept nowhere. */
@Access({ service: 'admin:identity', staff: 'admin:identity:clients' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A service token that was asked for by name.' })
@Entity({ tableName: 'service_token' })
export class ServiceToken {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Field(() => ID)
  @ManyToOne({ entity: () => OAuthClient, mapToPk: true, fieldName: 'client_id' })
  clientId: string;

  /** The secret that it dies with. */
  @Property({ type: 'uuid' })
  secretId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => [String])
  @Property({ type: 'string[]', columnType: 'text[]' })
  scopes: string[];

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  revokedAt: Date | null = null;

  @Field(() => String, { description: '`staff:<id>` or `service:<client>`.' })
  @Property({ type: 'text' })
  issuedBy: string;
}

/** The answer that bears the value of a token. */
@Access({ service: 'admin:identity', staff: 'admin:identity:clients' })
@ObjectType({ description: 'A new service token; its value is in this answer only.' })
export class IssuedServiceToken {
  @Field(() => ID)
  id: string;

  @Field(() => String, { nullable: true, description: 'Null in the answer to a repeated request: it is kept nowhere.' })
  token: string | null;

  @Field(() => ID)
  clientId: string;

  @Field(() => String)
  name: string;

  @Field(() => [String])
  scopes: string[];

  @Field(() => DateTime)
  expiresAt: Date;
}
