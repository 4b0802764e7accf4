import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { CountryCode, DateTime, EmailAddress, Locale, PhoneNumber, TimeZone } from '../../../runtime/schema/scalars.js';
import { UserStatus } from '../entities/user.js';
import { FILLED_LINE } from './text.js';

@InputType({ description: 'Which accounts a list shows; all conditions hold.' })
export class UserFilter {
  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { nullable: true, description: 'An id, or the beginning of an e-mail address, handle or display name.' })
  q?: string | null;

  @Field(() => [UserStatus], { nullable: true })
  status?: UserStatus[] | null;

  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Field(() => DateTime, { nullable: true })
  createdAfter?: Date | null;

  @Field(() => DateTime, { nullable: true })
  createdBefore?: Date | null;
}

@ArgsType()
export class UserListArgs extends PageArgs {
  @Field(() => UserFilter, { nullable: true })
  filter?: UserFilter | null;
}

@InputType({ description: 'Exactly one of e-mail, phone, handle, or external provider with external id.' })
export class UserLookupInput {
  @Rule({ minLength: 3, maxLength: 254 })
  @Field(() => String, { nullable: true })
  email?: string | null;

  @Rule({ pattern: '^\\+[1-9][0-9]{1,14}$' })
  @Field(() => String, { nullable: true, description: 'E.164.' })
  phone?: string | null;

  @Rule({ minLength: 1, maxLength: 30 })
  @Field(() => String, { nullable: true })
  handle?: string | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Outside identity provider; needs externalId.' })
  externalProvider?: string | null;

  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => String, { nullable: true })
  externalId?: string | null;
}

@ArgsType()
export class CrmSyncArgs extends PageArgs {
  @Field(() => DateTime, { nullable: true, description: 'Changes after this time; all when not given.' })
  since?: Date | null;
}

@InputType({ description: 'A new account, active at once.' })
export class CreateUserInput {
  @Rule({ maxLength: 254 })
  @Field(() => EmailAddress)
  email: string;

  @Field(() => Boolean, { defaultValue: false })
  emailVerified: boolean = false;

  @Field(() => PhoneNumber, { nullable: true })
  phone?: string | null;

  @Rule({ minLength: 1, maxLength: 60, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => ID, { nullable: true, description: 'Brand of the first sign-up.' })
  brandId?: string | null;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Field(() => TimeZone, { nullable: true })
  timeZone?: string | null;

  @Field(() => CountryCode, { nullable: true, description: 'Published with the event, not kept.' })
  countryCode?: string | null;
}
