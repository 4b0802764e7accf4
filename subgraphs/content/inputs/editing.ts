import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, Locale } from '../../../runtime/schema/scalars.js';

@InputType()
export class PublishContentInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'Default: the newest.' })
  revision?: number | null;

  @Rule({ maxItems: 50 })
  @Field(() => [Locale], { nullable: true, description: 'Default: those that are published, else the one in which the item began.' })
  locales?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Publishes although it refers to items that are not published.' })
  allowDanglingReferences?: boolean | null;
}

@InputType()
export class UnpublishContentInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ maxItems: 50 })
  @Field(() => [Locale], { nullable: true, description: 'Default: all.' })
  locales?: string[] | null;
}

@InputType()
export class RestoreContentRevisionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => Int)
  revision: number;

  @Rule({ min: 1 })
  @Field(() => Int, { description: 'As it was read.' })
  version: number;
}

@InputType()
export class ContentReleaseItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  itemId: string;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'Default: the newest.' })
  revision?: number | null;

  @Rule({ maxItems: 50 })
  @Field(() => [Locale], { nullable: true })
  locales?: string[] | null;
}

@InputType()
export class CreateContentReleaseInput {
  @Rule({ minLength: 1, maxLength: 120 })
  @Field(() => String)
  name: string;

  @Rule({ maxItems: 500 })
  @Field(() => [ContentReleaseItemInput], { nullable: true })
  items?: ContentReleaseItemInput[] | null;
}

@InputType()
export class AddToContentReleaseInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ minItems: 1, maxItems: 500 })
  @Field(() => [ContentReleaseItemInput])
  items: ContentReleaseItemInput[];
}

@InputType()
export class ScheduleContentReleaseInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => DateTime, { description: 'More than a minute ahead.' })
  publishAt: Date;
}

@InputType()
export class CreateContentPreviewInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'Default: the newest at the time of reading.' })
  revision?: number | null;
}

@InputType()
export class AddContentCommentInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  itemId: string;

  @Rule({ maxLength: 200, pattern: '^(/[^/]*)+$' })
  @Field(() => String, { nullable: true, description: 'JSON Pointer of the field.' })
  pointer?: string | null;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Rule({ minLength: 1, maxLength: 2000 })
  @Field(() => String)
  text: string;
}

@InputType()
export class SetContentSynonymsInput {
  @Field(() => Locale)
  locale: string;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String)
  term: string;

  @Rule({ maxItems: 20, maxLength: 64 })
  @Field(() => [String], { description: 'None removes the term.' })
  synonyms: string[];
}

@ArgsType()
export class ContentDiffArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => Int)
  from: number;

  @Rule({ min: 1 })
  @Field(() => Int)
  to: number;
}
