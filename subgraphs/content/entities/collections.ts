import { coas } from './coa.js';
import type { CollectionDefinition } from './definition.js';
import { learnArticles, media, pages, policies, posts, testimonials } from './editorial.js';
import type { ContentCollection } from './enums.js';
import { faqs, goals, peptides, protocolDetails, researchPapers, stacks } from './knowledge.js';

/** The one list. A new collection is its definition, a line here, its REST rows and `npm run generate`. */
export const COLLECTIONS: readonly CollectionDefinition[] = [
  coas,
  faqs,
  goals,
  learnArticles,
  media,
  pages,
  peptides,
  policies,
  posts,
  protocolDetails,
  researchPapers,
  stacks,
  testimonials,
];

const byCollection = new Map(COLLECTIONS.map(one => [one.collection, one]));

/** The definition of a collection. */
export const definitionOf = (collection: ContentCollection): CollectionDefinition => byCollection.get(collection)!;
