import { Field, ID, Int, InterfaceType, ObjectType } from 'type-graphql';
import { DateTime, JSONObject, Locale, Url } from '../../../runtime/schema/scalars.js';
import { Brand, User } from '../stubs.js';
import { ContentAudience, ContentCardType, ContentCollection, ContentStatus } from './enums.js';

@ObjectType({ description: 'A heading of a text, for its table of contents.' })
export class RichTextHeading {
  @Field(() => Int, { description: '2 to 4.' })
  level: number;

  @Field(() => String, { description: 'Id of the heading in the HTML.' })
  id: string;

  @Field(() => String)
  text: string;
}

/** A text with structure: ProseMirror JSON of a closed schema, and what is rendered from it. Source: content 2.1. */
@ObjectType({ description: 'A text with structure. Forms that were not asked for by `bodyFormat` are null.' })
export class RichText {
  @Field(() => JSONObject, { nullable: true, description: 'ProseMirror JSON of a closed schema.' })
  json?: unknown;

  @Field(() => String, { nullable: true, description: 'Rendered from the JSON; no stored markup reaches a reader.' })
  html?: string | null;

  @Field(() => String, { nullable: true })
  text?: string | null;

  @Field(() => [RichTextHeading])
  toc: RichTextHeading[];

  @Field(() => Int)
  wordCount: number;

  @Field(() => Int)
  readingMinutes: number;
}

@ObjectType({ description: 'The same item in another locale, for hreflang.' })
export class ContentAlternate {
  @Field(() => Locale)
  locale: string;

  @Field(() => String, { nullable: true })
  slug: string | null;
}

@ObjectType({ description: 'What search engines are told.' })
export class ContentSeo {
  @Field(() => String, { nullable: true })
  title: string | null;

  @Field(() => String, { nullable: true })
  description: string | null;

  @Field(() => Url, { nullable: true })
  canonicalUrl: string | null;

  @Field(() => Boolean)
  noIndex: boolean;

  @Field(() => Url, { nullable: true, description: 'Address of the picture.' })
  imageUrl: string | null;
}

@ObjectType()
export class ContentCardImage {
  @Field(() => Url)
  url: string;

  @Field(() => Int, { nullable: true })
  width: number | null;

  @Field(() => Int, { nullable: true })
  height: number | null;

  @Field(() => String, { nullable: true })
  alt: string | null;
}

@ObjectType()
export class ContentCardMeta {
  @Field(() => String)
  label: string;

  @Field(() => String)
  value: string;
}

/** What is shown where something is linked to. Source: content 4.5. */
@ObjectType({ description: 'What is shown where something is linked to.' })
export class ContentCard {
  @Field(() => ContentCardType)
  type: ContentCardType;

  @Field(() => ContentCollection, { nullable: true })
  collection?: ContentCollection | null;

  @Field(() => ID, { nullable: true })
  id?: string | null;

  @Field(() => String, { nullable: true })
  slug?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Address on the first verified host of the brand; null where there is no route to it.',
  })
  url?: string | null;

  @Field(() => String)
  title: string;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => ContentCardImage, { nullable: true })
  image?: ContentCardImage | null;

  @Field(() => String, { nullable: true })
  badge?: string | null;

  @Field(() => [ContentCardMeta])
  meta: ContentCardMeta[];

  @Field(() => Locale, { nullable: true })
  locale?: string | null;
}

@ObjectType({ description: 'When a revision is to be published.' })
export class ContentSchedule {
  @Field(() => ID)
  releaseId: string;

  @Field(() => DateTime)
  publishAt: Date;

  @Field(() => Int)
  revision: number;

  @Field(() => Boolean, { description: 'The item was edited after it was scheduled; what is published stays the scheduled revision.' })
  stale: boolean;
}

/** What every item has, whatever its collection. Source: content 2.1. */
@InterfaceType({ description: 'Something that is authored, published and delivered.' })
export abstract class ContentItem {
  @Field(() => ID)
  id: string;

  @Field(() => ContentCollection)
  collection: ContentCollection;

  @Field(() => ID, { nullable: true, description: 'Null: shared by all brands.' })
  brandId: string | null;

  @Field(() => Brand, { nullable: true })
  get brand(): Brand | null {
    return this.brandId === null ? null : Object.assign(new Brand(), { id: this.brandId });
  }

  @Field(() => String, { nullable: true })
  slug: string | null;

  @Field(() => ContentStatus)
  status: ContentStatus;

  @Field(() => Boolean, { nullable: true, description: 'For editors: whether there is a newer revision than the published one.' })
  hasUnpublishedChanges: boolean | null;

  @Field(() => Locale, { description: 'Locale in which the item is given.' })
  locale: string;

  @Field(() => Locale)
  requestedLocale: string;

  @Field(() => [Locale])
  availableLocales: string[];

  @Field(() => Int, { description: 'Number of the delivered revision.' })
  revision: number;

  @Field(() => Int, { description: 'For the next change; a lost race is a conflict.' })
  version: number;

  @Field(() => String)
  title: string;

  @Field(() => ContentAudience)
  audience: ContentAudience;

  @Field(() => [String])
  tags: string[];

  @Field(() => DateTime, { nullable: true })
  publishedAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  firstPublishedAt: Date | null;

  @Field(() => DateTime)
  updatedAt: Date;

  @Field(() => DateTime)
  createdAt: Date;

  @Field(() => ContentSeo, { nullable: true })
  seo: ContentSeo | null;

  @Field(() => [ContentAlternate])
  alternates: ContentAlternate[];

  @Field(() => ContentSchedule, { nullable: true, description: 'For editors.' })
  scheduled: ContentSchedule | null;

  @Field(() => [String], { description: 'What was left out of the given HTML; of an answer to a write only.' })
  warnings: string[];

  @Field(() => User, { nullable: true, description: 'For editors.' })
  createdBy: User | null;

  @Field(() => User, { nullable: true, description: 'For editors.' })
  updatedBy: User | null;
}

@ObjectType({ description: 'One size of a picture.' })
export class ContentRendition {
  @Field(() => Int)
  width: number;

  @Field(() => String)
  format: string;

  @Field(() => Url)
  url: string;
}
