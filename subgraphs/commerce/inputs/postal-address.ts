import { Field, InputType } from 'type-graphql';
import { NOT_BLANK, Rule } from '../../../runtime/schema/constraints.js';
import { CountryCode } from '../../../runtime/schema/scalars.js';

const LINE = { maxLength: 200, pattern: NOT_BLANK } as const;

@InputType({ description: 'Where something is sent.' })
export class CommerceAddressInput {
  @Rule(LINE)
  @Field(() => String)
  line1: string;

  @Rule(LINE)
  @Field(() => String, { nullable: true })
  line2?: string | null;

  @Rule(LINE)
  @Field(() => String)
  city: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  region?: string | null;

  @Rule({ maxLength: 20, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  postalCode?: string | null;

  @Field(() => CountryCode)
  countryCode: string;
}
