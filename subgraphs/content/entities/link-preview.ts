import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import { LinkFetchStatus, LinkKind } from './enums.js';

@ObjectType()
export class LinkProduct {
  @Field(() => String, { nullable: true })
  name: string | null;

  @Field(() => String, { nullable: true })
  price: string | null;

  @Field(() => String, { nullable: true })
  currency: string | null;

  @Field(() => String, { nullable: true })
  availability: string | null;
}

/** What an outside page says of itself; plain text, at most 300 and 1000 characters. Source: content 4.5. */
@ObjectType({ description: 'What an outside page says of itself, as plain text.' })
export class LinkPreview {
  @Field(() => String)
  url: string;

  @Field(() => String, { nullable: true })
  finalUrl: string | null;

  @Field(() => String, { nullable: true })
  canonicalUrl: string | null;

  @Field(() => LinkKind)
  kind: LinkKind;

  @Field(() => String, { nullable: true })
  title: string | null;

  @Field(() => String, { nullable: true })
  description: string | null;

  @Field(() => String, { nullable: true })
  siteName: string | null;

  @Field(() => String, { nullable: true })
  author: string | null;

  @Field(() => DateTime, { nullable: true })
  publishedAt: Date | null;

  @Field(() => Url, { nullable: true, description: 'https only; never fetched by us.' })
  imageUrl: string | null;

  @Field(() => Int, { nullable: true })
  imageWidth: number | null;

  @Field(() => Int, { nullable: true })
  imageHeight: number | null;

  @Field(() => Url, { nullable: true })
  faviconUrl: string | null;

  @Field(() => String, { nullable: true })
  lang: string | null;

  @Field(() => LinkProduct, { nullable: true })
  product: LinkProduct | null;

  @Field(() => String, { nullable: true })
  oembedType: string | null;

  @Field(() => LinkFetchStatus)
  fetchStatus: LinkFetchStatus;

  @Field(() => DateTime)
  fetchedAt: Date;
}
