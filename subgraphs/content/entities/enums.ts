import { registerEnums } from '../../../runtime/schema/enums.js';

/** Keys are the values that are stored. */
const keysOf = <Key extends string>(...keys: readonly Key[]): { readonly [K in Key]: K } =>
  Object.fromEntries(keys.map(key => [key, key])) as { readonly [K in Key]: K };
type ValueOf<Enum> = Enum[keyof Enum];

export const ContentCollection = keysOf(
  'COAS',
  'FAQS',
  'GOALS',
  'LEARN_ARTICLES',
  'MEDIA',
  'PAGES',
  'PEPTIDES',
  'POLICIES',
  'POSTS',
  'PROTOCOL_DETAILS',
  'RESEARCH_PAPERS',
  'STACKS',
  'TESTIMONIALS',
);
export type ContentCollection = ValueOf<typeof ContentCollection>;
export const ContentStatus = keysOf('DRAFT', 'PUBLISHED', 'ARCHIVED');
export type ContentStatus = ValueOf<typeof ContentStatus>;
export const ContentAudience = keysOf('PUBLIC', 'MEMBER', 'PARTNER');
export type ContentAudience = ValueOf<typeof ContentAudience>;
export const ContentStatusFilter = keysOf('DRAFT', 'PUBLISHED', 'ARCHIVED', 'ALL');
export type ContentStatusFilter = ValueOf<typeof ContentStatusFilter>;
export const ContentBodyFormat = keysOf('NONE', 'HTML', 'JSON', 'TEXT', 'ALL');
export type ContentBodyFormat = ValueOf<typeof ContentBodyFormat>;
export const ContentSort = keysOf('PUBLISHED_AT', 'TITLE', 'UPDATED_AT', 'POSITION', 'TESTED_ON');
export type ContentSort = ValueOf<typeof ContentSort>;
export const ContentOrder = keysOf('ASC', 'DESC');
export type ContentOrder = ValueOf<typeof ContentOrder>;
export const ContentCreateStatus = keysOf('DRAFT', 'PUBLISHED');
export const ContentReleaseStatus = keysOf('OPEN', 'SCHEDULED', 'PUBLISHED', 'FAILED', 'CANCELLED');
export type ContentReleaseStatus = ValueOf<typeof ContentReleaseStatus>;
export const ContentMediaStatus = keysOf('UPLOADING', 'PROCESSING', 'READY', 'REJECTED');
export const ContentCardType = keysOf('CONTENT', 'PRODUCT', 'LIVE_SESSION', 'LINK');
export type ContentCardType = ValueOf<typeof ContentCardType>;
export const ContentImageFormat = keysOf('WEBP', 'JPEG', 'PNG', 'AVIF');
export const LinkKind = keysOf('WEBSITE', 'ARTICLE', 'PRODUCT', 'VIDEO', 'IMAGE', 'DOCUMENT');
export type LinkKind = ValueOf<typeof LinkKind>;
export const LinkFetchStatus = keysOf('OK', 'NOT_HTML', 'TOO_LARGE', 'TIMEOUT', 'HTTP_ERROR');
export type LinkFetchStatus = ValueOf<typeof LinkFetchStatus>;
export const ContentSearchMatch = keysOf('TEXT', 'FUZZY');
export const ContentSearchSort = keysOf('RELEVANCE', 'NEWEST');
export const ContentSearchFacet = keysOf('TYPE', 'TAGS', 'GOAL', 'PEPTIDE', 'EVIDENCE_LEVEL');

registerEnums(
  {
    ContentCollection,
    ContentStatus,
    ContentAudience,
    ContentStatusFilter,
    ContentBodyFormat,
    ContentSort,
    ContentOrder,
    ContentCreateStatus,
    ContentReleaseStatus,
    ContentMediaStatus,
    ContentCardType,
    ContentImageFormat,
    LinkKind,
    LinkFetchStatus,
    ContentSearchMatch,
    ContentSearchSort,
    ContentSearchFacet,
  },
  {
    ContentAudience: 'Who may read an item once it is published: any valid token, members, partners of the business.',
    ContentBodyFormat: 'Forms in which rich texts are given; lists default to NONE, single items to HTML.',
    ContentSort: 'PUBLISHED_AT and UPDATED_AT newest first, TITLE and POSITION ascending, unless `order` says otherwise.',
  },
);

/** Enums of fields, by name; each is registered once, whichever collection names it first. */
const named = new Map<string, Readonly<Record<string, string>>>();

/** An enum of the schema by its name and values. */
export function fieldEnum(name: string, values: readonly string[]): object {
  let found = named.get(name);
  if (!found) {
    named.set(name, (found = keysOf(...values)));
    registerEnums({ [name]: found });
  }
  return found;
}
