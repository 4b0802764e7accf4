import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { LocalDate, Locale } from '../../../runtime/schema/scalars.js';
import { EVIDENCE } from '../entities/knowledge.js';
import { ContentCollection, ContentSearchFacet, ContentSearchSort, fieldEnum } from '../entities/enums.js';

const EVIDENCE_LEVEL = fieldEnum(EVIDENCE.name, EVIDENCE.values);

@InputType()
export class SearchContentInput {
  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { description: 'Words, "phrases", -exclusions, or.' })
  q: string;

  @Rule({ maxItems: 13 })
  @Field(() => [ContentCollection], { nullable: true, description: 'Default: all that the caller may read.' })
  types?: ContentCollection[] | null;

  @Rule({ maxItems: 20, maxLength: 64 })
  @Field(() => [String], { nullable: true })
  tags?: string[] | null;

  @Rule({ pattern: UUID, maxItems: 20 })
  @Field(() => [ID], { nullable: true })
  goal?: string[] | null;

  @Rule({ pattern: UUID, maxItems: 20 })
  @Field(() => [ID], { nullable: true })
  peptide?: string[] | null;

  @Rule({ maxItems: 5 })
  @Field(() => [EVIDENCE_LEVEL], { nullable: true })
  evidenceLevel?: string[] | null;

  @Field(() => LocalDate, { nullable: true, description: 'Published on or after.' })
  from?: string | null;

  @Field(() => LocalDate, { nullable: true, description: 'Published on or before.' })
  to?: string | null;

  @Field(() => Locale, { nullable: true })
  locale?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Slug of a brand.' })
  brand?: string | null;

  @Field(() => Boolean, { defaultValue: true })
  fallback: boolean = true;

  @Rule({ maxItems: 5 })
  @Field(() => [ContentSearchFacet], { nullable: true })
  facets?: string[] | null;

  @Field(() => ContentSearchSort, { defaultValue: 'RELEVANCE' })
  sort: string = 'RELEVANCE';
}
