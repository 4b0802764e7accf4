import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject, Url } from '../../../runtime/schema/scalars.js';

export enum OAuthClientKind {
  MACHINE = 'machine',
  CONFIDENTIAL = 'confidential',
  PUBLIC = 'public',
}

export enum OAuthClientStatus {
  ACTIVE = 'active',
  DISABLED = 'disabled',
  DELETED = 'deleted',
}

export enum OAuthClientTokenEndpointAuthMethod {
  CLIENT_SECRET_BASIC = 'client_secret_basic',
  CLIENT_SECRET_POST = 'client_secret_post',
  PRIVATE_KEY_JWT = 'private_key_jwt',
  NONE = 'none',
}

registerEnums(
  {
    OAuthClientKind,
    OAuthClientStatus,
    OAuthClientTokenEndpointAuthMethod,
  },
  {
    OAuthClientKind: 'MACHINE: client_credentials. CONFIDENTIAL: code flow with a secret. PUBLIC: code flow without one.',
    OAuthClientTokenEndpointAuthMethod: 'A client with a secret may use either secret method.',
  },
);

/** An application that may ask for tokens. Its name, addresses and publisher may be read by whoever can see the client at all. */
@Access({ service: 'admin:identity', staff: 'admin:identity:clients', internal: 'webhooks' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An application that may ask for tokens.' })
@Entity({ tableName: 'oauth_client' })
export class OAuthClient {
  @Field(() => ID, { description: 'The OAuth client_id.' })
  @PrimaryKey({ type: 'text' })
  id: string = newId();

  @Access({ service: '*', user: '*' })
  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Access({ service: '*', user: '*' })
  @Field(() => String, { description: 'Who publishes the app, as people are told.' })
  @Property({ type: 'text' })
  publisher: string;

  @Access({ service: '*', user: '*' })
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  description: string | null = null;

  @Access({ service: '*', user: '*' })
  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  logoUrl: string | null = null;

  @Access({ service: '*', user: '*' })
  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  homepageUrl: string | null = null;

  @Access({ service: '*', user: '*' })
  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  privacyUrl: string | null = null;

  @Access({ service: '*', user: '*' })
  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  termsUrl: string | null = null;

  @Access({ service: '*', user: '*' })
  @Field(() => Boolean, { description: "The operator's own app." })
  @Property({ type: 'boolean', default: false })
  firstParty: boolean = false;

  @Field(() => OAuthClientKind)
  @Enum({ items: () => OAuthClientKind, type: 'text' })
  kind: OAuthClientKind;

  @Field(() => OAuthClientStatus)
  @Enum({ items: () => OAuthClientStatus, type: 'text', default: OAuthClientStatus.ACTIVE })
  status: OAuthClientStatus = OAuthClientStatus.ACTIVE;

  @Field(() => Boolean, { description: 'Staff keep their roles in tokens of this app.' })
  @Property({ type: 'boolean', default: false })
  staffAccess: boolean = false;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => String, { nullable: true, description: 'Set for the internal client of a service.' })
  @Property({ type: 'text', nullable: true, unique: true })
  serviceSlug: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  ssoPartner: string | null = null;

  @Field(() => [String])
  @Property({ type: 'string[]', columnType: 'text[]', defaultRaw: "'{}'" })
  redirectUris: string[] = [];

  @Field(() => [String])
  @Property({ type: 'string[]', columnType: 'text[]', defaultRaw: "'{}'" })
  postLogoutRedirectUris: string[] = [];

  @Field(() => [String], { description: "Web origins of the client's browser apps, for CORS." })
  @Property({ type: 'string[]', columnType: 'text[]', defaultRaw: "'{}'" })
  allowedOrigins: string[] = [];

  @Field(() => [String], { description: 'Registered scopes.' })
  @Property({ type: 'string[]', columnType: 'text[]', defaultRaw: "'{}'" })
  scopes: string[] = [];

  @Field(() => Int)
  @Property({ type: 'integer', default: 3600 })
  accessTokenTtlSeconds: number = 3600;

  @Field(() => Int)
  @Property({ type: 'integer', default: 0 })
  refreshReuseLeewaySeconds: number = 0;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: false })
  tokenExchange: boolean = false;

  @Field(() => OAuthClientTokenEndpointAuthMethod)
  @Enum({ items: () => OAuthClientTokenEndpointAuthMethod, type: 'text' })
  tokenEndpointAuthMethod: OAuthClientTokenEndpointAuthMethod;

  @Field(() => JSONObject, { nullable: true, description: 'Public keys of a client that signs.' })
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  jwks: Record<string, unknown> | null = null;

  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  jwksUri: string | null = null;

  /** In the answer that made the client, never in a row. */
  @Field(() => String, { nullable: true, description: 'Only in the answer that made the client; null ever after.' })
  clientSecret?: string | null;

  @Field(() => [String])
  @Property({ type: 'string[]', columnType: 'text[]', defaultRaw: "'{}'" })
  contacts: string[] = [];

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastUsedAt: Date | null = null;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1, version: true })
  version: number;
}

export const OAuthClientConnection = connectionOf(OAuthClient, 'OAuthClient');
