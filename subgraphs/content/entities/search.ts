import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Locale } from '../../../runtime/schema/scalars.js';
import { ContentCard } from './item.js';
import { ContentCollection, ContentSearchMatch } from './enums.js';

@ObjectType({ description: 'A piece of a text, and whether it matches.' })
export class TextPiece {
  @Field(() => String)
  text: string;

  @Field(() => Boolean)
  match: boolean;
}

@ObjectType()
export class ContentSearchHit {
  @Field(() => ID)
  id: string;

  @Field(() => ContentCollection)
  collection: ContentCollection;

  @Field(() => String, { nullable: true })
  slug: string | null;

  @Field(() => Locale)
  locale: string;

  @Field(() => String)
  title: string;

  @Field(() => [TextPiece])
  titleHighlights: TextPiece[];

  @Field(() => [TextPiece])
  snippet: TextPiece[];

  @Field(() => String, { description: 'The snippet as escaped text, with `<mark>` only.' })
  snippetHtml: string;

  @Field(() => Float)
  score: number;

  @Field(() => ContentSearchMatch, { description: 'FUZZY: by its letters only.' })
  matched: string;

  @Field(() => ContentCard, { nullable: true })
  card: ContentCard | null;
}

@ObjectType()
export class ContentFacetCount {
  @Field(() => String)
  value: string;

  @Field(() => Int)
  count: number;
}

@ObjectType({ description: 'Counts of the hits by their values; those that were not asked for are null.' })
export class ContentFacets {
  @Field(() => [ContentFacetCount], { nullable: true })
  type?: ContentFacetCount[];

  @Field(() => [ContentFacetCount], { nullable: true })
  tags?: ContentFacetCount[];

  @Field(() => [ContentFacetCount], { nullable: true })
  goal?: ContentFacetCount[];

  @Field(() => [ContentFacetCount], { nullable: true })
  peptide?: ContentFacetCount[];

  @Field(() => [ContentFacetCount], { nullable: true })
  evidenceLevel?: ContentFacetCount[];
}

@ObjectType({ description: 'Hits of a search, best first.' })
export class ContentSearchResult {
  @Field(() => [ContentSearchHit])
  data: ContentSearchHit[];

  @Field(() => String, { nullable: true, description: 'Cursor of the next page; null on the last.' })
  nextCursor: string | null;

  @Field(() => ContentFacets)
  facets: ContentFacets;

  @Field(() => Int)
  total: number;

  @Field(() => Boolean, { description: 'False: there are more than are counted.' })
  totalIsExact: boolean;

  @Field(() => String, { nullable: true, description: 'What may have been meant.' })
  suggestion: string | null;

  @Field(() => Int)
  tookMs: number;
}
