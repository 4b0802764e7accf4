import { Field, ID, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, Locale } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { ContentItem } from './item.js';
import { ContentCollection } from './enums.js';

@ObjectType({ description: 'What an item was at one time; never changed.' })
export class ContentRevision {
  @Field(() => Int)
  number: number;

  @Field(() => DateTime)
  createdAt: Date;

  @Field(() => User, { nullable: true })
  createdBy: User | null;

  @Field(() => JSONObject, { description: 'All fields in all locales.' })
  data: unknown;

  @Field(() => [Locale], { description: 'Locales in which it is delivered now.' })
  publishedLocales: string[];
}

export const ContentRevisionConnection = connectionOf(ContentRevision, 'ContentRevision');

@ObjectType({ description: 'One step from a revision to another. Source: RFC 6902.' })
export class ContentDifference {
  @Field(() => String, { description: 'add, remove or replace.' })
  op: string;

  @Field(() => String, { description: 'JSON Pointer.' })
  path: string;

  @Field(() => JSONObject, { nullable: true })
  value: unknown;

  @Field(() => String, { nullable: true, description: 'Of a text: its words, those that went as [-word-], those that came as {+word+}.' })
  text: string | null;
}

@ObjectType({ description: 'What became of an item that was taken down or deleted.' })
export class ContentRemoval {
  @Field(() => ID)
  id: string;

  @Field(() => ContentItem, { nullable: true, description: 'As it is now; null: it is gone.' })
  item: ContentItem | null;

  @Field(() => [String], { description: 'What refers to it and shows it no longer.' })
  warnings: string[];
}

@ObjectType({ description: 'A link that shows a draft for an hour.' })
export class ContentPreview {
  @Field(() => String, { description: 'Value of the header X-Platform-Preview.' })
  token: string;

  @Field(() => DateTime)
  expiresAt: Date;
}

@ObjectType({ description: 'A remark of an editor; never delivered or searched.' })
export class ContentComment {
  @Field(() => ID)
  id: string;

  @Field(() => ID)
  itemId: string;

  @Field(() => String, { nullable: true })
  pointer: string | null;

  @Field(() => Locale, { nullable: true })
  locale: string | null;

  @Field(() => String)
  text: string;

  @Field(() => User, { nullable: true })
  author: User | null;

  @Field(() => DateTime)
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  resolvedAt: Date | null;
}

@ObjectType({ description: 'Words that search treats alike.' })
export class ContentSynonym {
  @Field(() => Locale)
  locale: string;

  @Field(() => String)
  term: string;

  @Field(() => [String])
  synonyms: string[];
}

@ObjectType()
export class ContentHealthEntry {
  @Field(() => ID)
  id: string;

  @Field(() => ContentCollection)
  collection: ContentCollection;

  @Field(() => String)
  title: string;

  @Field(() => String, { nullable: true })
  detail: string | null;
}

@ObjectType({ description: 'What editors should look at; at most 100 of each.' })
export class ContentHealth {
  @Field(() => [ContentHealthEntry], { description: 'The next medical review has passed.' })
  staleReviews: ContentHealthEntry[];

  @Field(() => [ContentHealthEntry], { description: 'Published in fewer locales than the brand has.' })
  missingLocales: ContentHealthEntry[];

  @Field(() => [ContentHealthEntry], { description: 'Published, and refers to what is not.' })
  danglingReferences: ContentHealthEntry[];

  @Field(() => [ContentHealthEntry], {
    description: 'Certificates whose file is not the one that was published, and files whose stored bytes are gone or changed.',
  })
  changedFiles: ContentHealthEntry[];
}

@ObjectType()
export class ContentSitemapAlternate {
  @Field(() => Locale)
  locale: string;

  @Field(() => String)
  url: string;
}

@ObjectType()
export class ContentSitemapEntry {
  @Field(() => String)
  url: string;

  @Field(() => Locale)
  locale: string;

  @Field(() => DateTime)
  updatedAt: Date;

  @Field(() => [ContentSitemapAlternate])
  alternates: ContentSitemapAlternate[];
}

export const ContentSitemapConnection = connectionOf(ContentSitemapEntry, 'ContentSitemap');
