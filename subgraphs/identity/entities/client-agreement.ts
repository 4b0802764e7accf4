import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { OAuthClient } from './client.js';

export enum OAuthClientAgreementKind {
  PHI = 'phi',
}

export enum OAuthClientAgreementStatus {
  IN_FORCE = 'in_force',
  ENDED = 'ended',
}
registerEnums({ OAuthClientAgreementKind, OAuthClientAgreementStatus });

@Access({ service: 'admin:identity', staff: 'admin:identity:clients', internal: 'webhooks' })
@ObjectType({ description: 'A signed agreement that lets the app hold health-data scopes.' })
@Entity({ tableName: 'oauth_client_agreement' })
export class OAuthClientAgreement {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => OAuthClient, mapToPk: true, fieldName: 'client_id' })
  clientId: string;

  @Field(() => OAuthClientAgreementKind)
  @Enum({ items: () => OAuthClientAgreementKind, type: 'text', default: OAuthClientAgreementKind.PHI })
  kind: OAuthClientAgreementKind = OAuthClientAgreementKind.PHI;

  @Field(() => String)
  @Property({ type: 'text' })
  documentVersion: string;

  @Field(() => [String])
  @Property({ type: 'string[]', columnType: 'text[]' })
  scopes: string[];

  @Field(() => String)
  @Property({ type: 'text' })
  signedBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  signedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;
}
