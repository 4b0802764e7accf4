import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { CountryCode, DateTime } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

const OWN = { user: 'read:account', firstParty: true } as const;

@Access(OWN)
@ObjectType({ description: 'What somebody signed in with.' })
export class AuthSessionDevice {
  @Field(() => String, { nullable: true })
  browser: string | null;

  @Field(() => String, { nullable: true })
  os: string | null;

  @Field(() => String, { nullable: true })
  formFactor: string | null;
}

/** A sign-in of a user in one browser. Personal: the network prefix. */
@Access(OWN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A sign-in of a user in one browser.' })
@Entity({ tableName: 'auth_session' })
export class AuthSession {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  lastActiveAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Field(() => [String])
  @Property({ type: 'string[]', columnType: 'text[]' })
  amr: string[];

  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;

  @Property({ type: 'text', nullable: true })
  browser: string | null = null;

  @Property({ type: 'text', nullable: true })
  os: string | null = null;

  @Property({ type: 'text', nullable: true })
  formFactor: string | null = null;

  @Field(() => String, { nullable: true, description: 'Network: /24 of IPv4, /48 of IPv6.' })
  @Property({ type: 'text', nullable: true })
  ipPrefix: string | null = null;

  @Field(() => CountryCode, { nullable: true })
  @Property({ type: 'string', columnType: 'char(2)', nullable: true })
  countryCode: string | null = null;

  @Field(() => AuthSessionDevice)
  get device(): AuthSessionDevice {
    return { browser: this.browser, os: this.os, formFactor: this.formFactor };
  }
}
