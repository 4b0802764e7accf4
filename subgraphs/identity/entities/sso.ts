import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime, JSONObject, Url } from '../../../runtime/schema/scalars.js';

/** Somebody whose signed assertions sign people in. Source: identity 4.7. */
@Access({ service: 'admin:identity' })
@ObjectType({ description: 'An organisation whose signed assertions sign people in.' })
@Entity({ tableName: 'sso_partner' })
export class SsoPartner {
  @Field(() => ID)
  @PrimaryKey({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String, { description: 'The iss of its assertions.' })
  @Property({ type: 'text' })
  issuer: string;

  @Field(() => JSONObject, { nullable: true, description: 'Its public keys; a JWK set.' })
  @Property({ type: 'json', nullable: true })
  jwks: Record<string, unknown> | null = null;

  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  jwksUri: string | null = null;

  @Field(() => Boolean, { description: 'An address that it has verified may be linked to our account with the same one.' })
  @Property({ type: 'boolean', default: false })
  trustedEmail: boolean = false;

  @Field(() => Boolean, { description: 'Its second factor counts as ours.' })
  @Property({ type: 'boolean', default: false })
  trustedMfa: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  enabled: boolean = true;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;
}

@Access({ service: 'admin:identity|admin:capri' })
@ObjectType({ description: 'Where to send the person: the ticket is good once, for a minute.' })
export class PartnerSsoTicket {
  @Field(() => Url)
  ticketUrl: string;

  @Field(() => DateTime)
  expiresAt: Date;

  @Field(() => ID)
  userId: string;

  @Field(() => Boolean, { description: 'The account was made just now.' })
  created: boolean;
}
