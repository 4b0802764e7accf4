import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject, Url } from '../../../runtime/schema/scalars.js';
import { OAuthClientKind, OAuthClientStatus, OAuthClientTokenEndpointAuthMethod } from '../entities/client.js';
import { FILLED_LINE } from './text.js';

@InputType({ description: 'Which clients a list shows; all conditions hold.' })
export class OAuthClientFilter {
  @Field(() => [OAuthClientKind], { nullable: true })
  kind?: OAuthClientKind[] | null;

  @Field(() => [OAuthClientStatus], { nullable: true, description: 'Default: all but deleted ones.' })
  status?: OAuthClientStatus[] | null;

  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Field(() => Boolean, { nullable: true })
  firstParty?: boolean | null;

  @Rule({ minLength: 1, maxLength: 80 })
  @Field(() => String, { nullable: true, description: 'Beginning of the client_id, or part of the name.' })
  q?: string | null;
}

@ArgsType()
export class OAuthClientListArgs extends PageArgs {
  @Field(() => OAuthClientFilter, { nullable: true })
  filter?: OAuthClientFilter | null;
}

/** What of a client may be set at any time. */
@InputType()
class ClientFields {
  @Rule({ maxItems: 20, maxLength: 2000 })
  @Field(() => [String], { nullable: true })
  redirectUris?: string[] | null;

  @Rule({ maxItems: 20, maxLength: 2000 })
  @Field(() => [String], { nullable: true })
  postLogoutRedirectUris?: string[] | null;

  @Rule({ maxItems: 20, maxLength: 255 })
  @Field(() => [String], { nullable: true, description: "Web origins of the client's browser apps: https, no path." })
  allowedOrigins?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Services and owners only.' })
  firstParty?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Services and owners only; needs firstParty.' })
  staffAccess?: boolean | null;

  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Services and owners only; machine clients.' })
  serviceSlug?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Services and owners only.' })
  ssoPartner?: string | null;

  @Rule({ min: 300, max: 31_536_000 })
  @Field(() => Int, { nullable: true, description: 'Machine clients only.' })
  accessTokenTtlSeconds?: number | null;

  @Rule({ min: 0, max: 30 })
  @Field(() => Int, { nullable: true })
  refreshReuseLeewaySeconds?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Not for public clients.' })
  tokenExchange?: boolean | null;

  @Field(() => OAuthClientTokenEndpointAuthMethod, { nullable: true })
  tokenEndpointAuthMethod?: OAuthClientTokenEndpointAuthMethod | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: 'Public keys of a client that signs; a JWK set.' })
  jwks?: Record<string, unknown> | null;

  @Field(() => Url, { nullable: true, description: 'Where the public keys are; https.' })
  jwksUri?: URL | string | null;

  @Rule({ minLength: 1, maxLength: 80, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true, description: 'Who publishes the app, as people are told; default: the name of the app.' })
  publisher?: string | null;

  @Rule({ maxLength: 500 })
  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Url, { nullable: true })
  logoUrl?: URL | string | null;

  @Field(() => Url, { nullable: true })
  homepageUrl?: URL | string | null;

  @Field(() => Url, { nullable: true })
  privacyUrl?: URL | string | null;

  @Field(() => Url, { nullable: true })
  termsUrl?: URL | string | null;

  @Rule({ maxItems: 10, maxLength: 254 })
  @Field(() => [String], { nullable: true, description: 'E-mail addresses of whom to ask.' })
  contacts?: string[] | null;
}

@InputType({ description: 'A new OAuth client.' })
export class CreateOAuthClientInput extends ClientFields {
  @Rule({ pattern: '^[a-z0-9-]{3,64}$' })
  @Field(() => String, { nullable: true, description: 'Default: a UUIDv7.' })
  clientId?: string | null;

  @Rule({ minLength: 1, maxLength: 80 })
  @Field(() => String)
  name: string;

  @Field(() => OAuthClientKind)
  kind: OAuthClientKind;

  @Rule({ minItems: 1, maxItems: 100, maxLength: 64 })
  @Field(() => [String])
  scopes: string[];
}

@InputType({ description: 'Changes to a client; what is absent stays, null clears.' })
export class UpdateOAuthClientInput extends ClientFields {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 80 })
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Rule({ minItems: 1, maxItems: 100, maxLength: 64 })
  @Field(() => [String], { nullable: true })
  scopes?: string[] | null;

  @Field(() => OAuthClientStatus, { nullable: true, description: 'ACTIVE or DISABLED.' })
  status?: OAuthClientStatus | null;

  @Field(() => Int, { nullable: true, description: 'Refuses the change when another one came between.' })
  version?: number | null;
}

@InputType({ description: 'A new secret; the old one works for the overlap.' })
export class RotateOAuthClientSecretInput {
  @Field(() => ID)
  clientId: string;

  @Rule({ min: 0, max: 2_592_000 })
  @Field(() => Int, { defaultValue: 86_400, description: '0 stops the old secret and its tokens at once.' })
  overlapSeconds: number;

  @Field(() => Boolean, { defaultValue: false, description: 'Ends the oldest of two living secrets at once.' })
  force: boolean;
}

@InputType({ description: 'A signed agreement that lets an app hold health-data scopes.' })
export class SetClientAgreementInput {
  @Field(() => ID)
  clientId: string;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String)
  documentVersion: string;

  @Rule({ minItems: 1, maxItems: 50, maxLength: 64 })
  @Field(() => [String])
  scopes: string[];

  @Rule({ minLength: 1, maxLength: 120 })
  @Field(() => String)
  signedBy: string;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  signedAt?: Date | null;

  @Field(() => DateTime, { nullable: true })
  expiresAt?: Date | null;
}

@InputType({ description: 'A token for a machine client, for some of its scopes.' })
export class IssueServiceTokenInput {
  @Field(() => ID)
  clientId: string;

  @Rule({ minLength: 1, maxLength: 80 })
  @Field(() => String)
  name: string;

  @Rule({ minItems: 1, maxItems: 30, maxLength: 64 })
  @Field(() => [String])
  scopes: string[];

  @Rule({ min: 300, max: 31_536_000 })
  @Field(() => Int, { description: 'Seconds.' })
  expiresIn: number;
}
