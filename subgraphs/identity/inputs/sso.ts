import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { JSONObject, Url } from '../../../runtime/schema/scalars.js';
import { FILLED_LINE } from './text.js';

@InputType({ description: "A partner's assertion about one of its people." })
export class StartPartnerSsoInput {
  @Rule({ maxLength: 64 })
  @Field(() => String, { description: 'Key of the partner.' })
  partner: string;

  @Rule({ minLength: 1, maxLength: 8192 })
  @Field(() => String, { description: 'A JWT signed by the partner, at most 300 s long and used once.' })
  assertion: string;

  @Rule({ maxLength: 64 })
  @Field(() => ID, { description: 'The app that the person goes to.' })
  clientId: string;

  @Rule({ maxLength: 2048 })
  @Field(() => String, { description: 'Where the person goes afterwards; an address of the app.' })
  returnTo: string;
}

@InputType({ description: 'A partner as it is from now on; either jwks or jwksUri.' })
export class UpsertSsoPartnerInput {
  @Rule({ pattern: '^[a-z0-9-]{3,64}$' })
  @Field(() => ID)
  key: string;

  @Rule({ maxLength: 80, pattern: FILLED_LINE })
  @Field(() => String)
  name: string;

  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => String, { description: 'The iss of its assertions.' })
  issuer: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: 'Its public keys; a JWK set.' })
  jwks?: Record<string, unknown> | null;

  @Field(() => Url, { nullable: true, description: 'https on port 443.' })
  jwksUri?: URL | string | null;

  @Field(() => Boolean, { defaultValue: false })
  trustedEmail: boolean = false;

  @Field(() => Boolean, { defaultValue: false })
  trustedMfa: boolean = false;

  @Field(() => Boolean, { defaultValue: true })
  enabled: boolean = true;
}
