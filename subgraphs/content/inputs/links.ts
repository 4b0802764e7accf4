import { Field, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Locale } from '../../../runtime/schema/scalars.js';
import { ContentCollection } from '../entities/enums.js';

@InputType()
export class AutocardInput {
  @Rule({ maxLength: 2048 })
  @Field(() => String, { nullable: true, description: 'An address of a storefront, or of anybody with `external`.' })
  url?: string | null;

  @Rule({ maxLength: 96 })
  @Field(() => String, { nullable: true })
  slug?: string | null;

  @Field(() => ContentCollection, { nullable: true, description: 'Of the slug.' })
  collection?: ContentCollection | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Makes a card of what an outside page says of itself.' })
  external: boolean = false;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Slug of a brand.' })
  brand?: string | null;
}
