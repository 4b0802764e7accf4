import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OAuthClient } from './client.js';

export enum OAuthClientSecretStatus {
  ACTIVE = 'active',
  RETIRING = 'retiring',
  RETIRED = 'retired',
}
registerEnums({ OAuthClientSecretStatus }, { OAuthClientSecretStatus: 'RETIRING works until it expires.' });

/** A secret of a client; only its SHA-256 is kept. */
@Access({ service: 'admin:identity', staff: 'admin:identity:clients' })
@ObjectType({ description: 'A secret of a client; its value was shown once.' })
@Entity({ tableName: 'oauth_client_secret' })
export class OAuthClientSecret {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => OAuthClient, mapToPk: true, fieldName: 'client_id' })
  clientId: string;

  @Property({ type: 'blob' })
  hash: Buffer;

  @Field(() => String, { description: 'The last four characters.' })
  @Property({ type: 'text' })
  hint: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastUsedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'End of the overlap of a rotation.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;
}

/** A signed agreement that lets an app of somebody else hold scopes of class PHI. Source: identity A9. */

/** The answer to a rotation. Kept by `id` only, so that a repeated request is answered all but the value. */
@Access({ service: 'admin:identity', staff: 'admin:identity:clients' })
@ObjectType({ description: 'A new secret; its value is in this answer only.' })
export class RotatedOAuthClientSecret {
  id: string;

  @Field(() => ID)
  clientId: string;

  @Field(() => String, { nullable: true, description: 'Null in the answer to a repeated request: it is kept nowhere.' })
  clientSecret: string | null;

  @Field(() => ID)
  secretId: string;

  @Field(() => [OAuthClientSecret], { description: 'The secrets before it that still work.' })
  previous: OAuthClientSecret[];
}
