/** All ways on which an item could be seen. Source: content 10.26. */
import type { Field, Fields } from '../../subgraphs/content/entities/definition.js';
import type { Answer } from '../support/platform.js';
import type { Editors } from './fixture.js';
import { definitionFor, type Shared, type Thing } from './leak-things.js';

/** Who asks. */
export interface Caller {
  name: string;
  token: string;
  host: 'main.example' | 'second.example';
}

/** Asks in English, which is not the second brand's own language. */
const ENGLISH = { 'accept-language': 'en' };

const COMMON = `id collection brandId slug status hasUnpublishedChanges locale requestedLocale availableLocales revision version title audience tags publishedAt
  firstPublishedAt updatedAt createdAt seo { title description canonicalUrl noIndex imageUrl } alternates { locale slug } scheduled { releaseId publishAt }
  createdBy { id } updatedBy { id } card { type id slug url title description badge meta { label value } }`;

function selected([name, field]: [string, Field]): string {
  switch (field.kind) {
    case 'richText':
      return `${name} { json html text toc { id text } }`;
    case 'group':
      return `${name} { ${selectionOf(field.fields)} }`;
    case 'blocks':
      return `${name} { __typename ${Object.entries(field.blocks)
        .map(([kind, fields]) => `... on ${kind}Section { ${selectionOf(fields)} }`)
        .join(' ')} }`;
    case 'ref':
      return field.connection ? `${name}(first: 20) { nodes { id slug title } }` : `${name} { id slug title }`;
    case 'entity':
      return `${name} { id }`;
    default:
      return name;
  }
}

/** Every field of a collection. */
const selectionOf = (fields: Fields): string => Object.entries(fields).map(selected).join(' ');
const everything = (thing: Thing): string => `${COMMON} ${selectionOf(definitionFor(thing).fields)}`;

export class Ways {
  constructor(
    readonly e: Editors,
    readonly caller: Caller,
  ) {}

  rest(path: string): Promise<Answer> {
    return this.e.rest('GET', path, undefined, this.caller.token, ENGLISH);
  }

  graphql(query: string, variables: object): Promise<Answer> {
    return this.e.p.graphql(query, variables, { token: this.caller.token, headers: ENGLISH });
  }

  /** As a gateway asks for the fields of a key. */
  entity(type: string, key: object, selection: string): Promise<Answer> {
    const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on ${type} { ${selection} } } }`;
    const body = { query, variables: { r: [{ __typename: type, ...key }] } };
    return this.e.p.rest('POST', '/content/graphql', { token: this.caller.token, body, headers: ENGLISH });
  }
}

type Way = (ways: Ways, thing: Thing, shared: Shared) => Promise<Answer>;

const REST_BY_ID = ['COAS', 'FAQS', 'GOALS', 'MEDIA', 'PAGES', 'PEPTIDES', 'RESEARCH_PAPERS'];
const REST_BY_SLUG: Readonly<Record<string, string>> = {
  LEARN_ARTICLES: '/learn-articles/by-slug/',
  PEPTIDES: '/peptides/by-slug/',
  POLICIES: '/policies/',
};
const ROUTES: Readonly<Record<string, (thing: Thing) => string>> = {
  LEARN_ARTICLES: ({ slug }) => `/learn/${slug}`,
  GOALS: ({ slug }) => `/goals/${slug}`,
  PEPTIDES: ({ slug }) => `/peptides/${slug}`,
  POLICIES: ({ slug }) => `/policies/${slug}`,
  PAGES: ({ canary }) => `/${canary}`,
  COAS: ({ id }) => `/coas/${id}`,
  FAQS: ({ id }) => `/faqs/${id}`,
  RESEARCH_PAPERS: ({ id }) => `/research/${id}`,
};
const restPath = ({ collection }: Thing): string => `/${collection.toLowerCase().replaceAll('_', '-')}`;
const isManaged = (thing: Thing): boolean => definitionFor(thing).managed === true;

interface Rule {
  /** Whether an item of a collection can be asked for on it. */
  of(thing: Thing): boolean;
  ask: Way;
  /** Editors see what is not published on it, too. */
  forEditors?: boolean;
  /** What is found by a reference to the item. */
  finds?(things: readonly Thing[], hub: Thing): Thing;
}

const list = (thing: Thing): string => definitionFor(thing).list;
const filtered = (ways: Ways, thing: Thing, filter: object): Promise<Answer> =>
  ways.graphql(
    `query ($filter: ${definitionFor(thing).type}Filter) { ${list(thing)}(first: 20, filter: $filter, bodyFormat: ALL) { nodes { ${everything(thing)} } pageInfo { hasNextPage endCursor } } }`,
    { filter },
  );

/** Ways to one item that is named. */
export const SINGLE: Readonly<Record<string, Rule>> = {
  'REST by id': {
    of: ({ collection }) => REST_BY_ID.includes(collection),
    ask: (ways, thing) => ways.rest(`${restPath(thing)}/${thing.id}?body_format=all`),
    forEditors: true,
  },
  'REST by slug': {
    of: ({ collection }) => collection in REST_BY_SLUG,
    ask: (ways, thing) => ways.rest(`${REST_BY_SLUG[thing.collection]}${thing.slug}?body_format=all`),
  },
  'GraphQL by id': {
    of: thing => !isManaged(thing) && !definitionFor(thing).oneBySlug,
    ask: (ways, thing) =>
      ways.graphql(`query ($id: ID!) { ${definitionFor(thing).one}(id: $id, bodyFormat: ALL) { ${everything(thing)} } }`, { id: thing.id }),
    forEditors: true,
  },
  'GraphQL by slug': {
    of: thing => definitionFor(thing).bySlug !== undefined,
    ask: (ways, thing) =>
      ways.graphql(`query ($slug: String!) { ${definitionFor(thing).bySlug}(slug: $slug, bodyFormat: ALL) { ${everything(thing)} } }`, {
        slug: thing.slug,
      }),
  },
  'a list by ids': { of: () => true, ask: (ways, thing) => filtered(ways, thing, { ids: [thing.id] }) },
  'a list by slugs': { of: ({ slug }) => slug !== null, ask: (ways, thing) => filtered(ways, thing, { slugs: [thing.slug] }) },
  'a list by tag': {
    of: ({ collection }) => collection !== 'MEDIA' && collection !== 'POLICIES',
    ask: (ways, thing) => filtered(ways, thing, { tag: [thing.canary] }),
  },
  'a list by path': {
    of: ({ collection }) => collection === 'PAGES',
    ask: (ways, thing) => filtered(ways, thing, { path: [`/${thing.canary}`] }),
  },
  search: {
    of: thing => definitionFor(thing).searchable === true,
    ask: (ways, { canary }) => ways.rest(`/search?q=${canary}&facets=type&facets=tags&facets=goal&facets=peptide&facets=evidence_level`),
  },
  'search by a part of a word': {
    of: thing => definitionFor(thing).searchable === true,
    ask: (ways, { canary }) => ways.rest(`/search?q=${canary.slice(0, -2)}`),
  },
  suggestions: {
    of: thing => definitionFor(thing).searchable === true,
    ask: (ways, { canary }) =>
      ways.graphql('query ($q: String!) { searchSuggest(prefix: $q, limit: 10, locale: "en") }', { q: canary.slice(0, 20) }),
  },
  'a card by slug': { of: ({ slug }) => slug !== null, ask: (ways, { slug }) => ways.rest(`/autocard/resolve?slug=${slug}&locale=en`) },
  'a card by address': {
    of: ({ collection }) => collection in ROUTES,
    ask: (ways, thing) =>
      ways.rest(`/autocard/resolve?locale=en&url=${encodeURIComponent(`https://${ways.caller.host}${ROUTES[thing.collection]!(thing)}`)}`),
  },
  'a key of the federation': {
    of: () => true,
    ask: (ways, thing) => ways.entity(definitionFor(thing).type, { id: thing.id }, COMMON),
  },
  'a verification code': {
    of: ({ code, why }) => code != null && ['open', 'draft', 'scheduled', 'foreign', 'member'].includes(why), // 30 a minute and caller
    ask: (ways, thing) =>
      ways.graphql(`query ($code: String!) { coaByVerificationCode(code: $code) { ${everything(thing)} } }`, { code: thing.code }),
  },
};

/** Ways to items that refer to the named one: whoever may not read it learns nothing of them either. */
export const BY_REFERENCE: Readonly<Record<string, Rule>> = {
  'a list by goal': {
    of: ({ collection }) => collection === 'GOALS',
    ask: (ways, { id }) => ways.rest(`/learn-articles?goal=${id}`),
  },
  'a list by peptide': {
    of: ({ collection }) => collection === 'PEPTIDES',
    ask: (ways, { id }) => ways.rest(`/learn-articles?peptide=${id}`),
  },
  'search by goal': {
    of: ({ collection }) => collection === 'GOALS',
    ask: (ways, { id }, { tag }) => ways.rest(`/search?q=${tag}&goal=${id}&facets=type`),
    finds: things => things.find(({ collection, why }) => collection === 'PEPTIDES' && why === 'open')!,
  },
  'search by peptide': {
    of: ({ collection }) => collection === 'PEPTIDES',
    ask: (ways, { id }, { tag }) => ways.rest(`/search?q=${tag}&peptide=${id}&facets=type`),
  },
};

/** Every page of the sitemap. */
async function sitemap(ways: Ways): Promise<unknown[]> {
  const pages: unknown[] = [];
  let after: string | null = null;
  do {
    const { body } = await ways.graphql(
      'query ($after: String) { contentSitemap(first: 100, after: $after) { nodes { url locale alternates { url locale } } pageInfo { endCursor hasNextPage } } }',
      { after },
    );
    const { nodes, pageInfo } = body.data.contentSitemap;
    pages.push(nodes);
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after);
  return pages;
}

const LISTS = ['coas', 'faqs', 'goals', 'learn-articles', 'media', 'pages', 'peptides', 'policies', 'research-papers'];

interface WholeRule {
  ask(ways: Ways, shared: Shared, hub: Thing, things: readonly Thing[]): Promise<unknown>;
  /** Whether an item that the caller may read must be there. */
  shows(thing: Thing): boolean;
}

const isSearchable = (thing: Thing): boolean => definitionFor(thing).searchable === true;
const isPublic = ({ why }: Thing): boolean => why !== 'member' && why !== 'partner';

/** Ways that name no item; `hub` refers to all of them. */
export const WHOLE: Readonly<Record<string, WholeRule>> = {
  'lists through REST': {
    ask: ways => Promise.all(LISTS.map(one => ways.rest(`/${one}?limit=100&body_format=all&locale=en`))),
    shows: () => true,
  },
  'lists in German': {
    ask: ways => Promise.all(LISTS.map(one => ways.rest(`/${one}?limit=100&body_format=all&locale=de`))),
    shows: () => false,
  },
  'lists through GraphQL': {
    ask: (ways, { tag }, _hub, things) => {
      const one = [...new Map(things.filter(({ why }) => why === 'open').map(thing => [thing.collection, thing])).values()];
      return Promise.all(one.map(thing => filtered(ways, thing, { tag: [tag] })));
    },
    shows: () => true,
  },
  search: {
    ask: (ways, { tag }) => ways.rest(`/search?q=${tag}&limit=50&facets=type&facets=tags&facets=goal&facets=peptide`),
    shows: isSearchable,
  },
  'search in German': {
    ask: (ways, { tag }) => ways.rest(`/search?q=${tag}&limit=50&locale=de&facets=type&facets=tags&facets=goal&facets=peptide`),
    shows: () => false,
  },
  'the sitemap': { ask: sitemap, shows: isPublic },
  cards: {
    ask: (ways, _shared, _hub, things) =>
      ways.graphql('query ($urls: [String!]!) { autocards(urls: $urls) { id slug title url } }', {
        urls: things
          .filter(({ collection }) => collection in ROUTES)
          .slice(0, 50)
          .map(thing => `https://${ways.caller.host}${ROUTES[thing.collection]!(thing)}`),
      }),
    shows: ({ collection }) => collection in ROUTES,
  },
  'an item that refers to all': {
    ask: (ways, shared, hub) =>
      Promise.all(['REST by slug', 'GraphQL by slug', 'a list by ids'].map(name => SINGLE[name]!.ask(ways, hub, shared))),
    shows: ({ collection }) => REFERRED.includes(collection),
  },
  'fields of other services’ types': {
    ask: async ways => [
      await ways.entity(
        'Biomarker',
        { code: 'ldl_c' },
        `goals { ${COMMON} relatedPeptides { id } articles { id title } } protocolDetails { id title }`,
      ),
      await ways.graphql('{ brand(slug: "main") { policies { id slug title versions { version } } contentRoutes { target } } }', {}),
    ],
    shows: ({ collection }) => collection === 'GOALS',
  },
};

/** Collections to which the hub refers by fields and in its text. */
export const REFERRED: readonly string[] = ['LEARN_ARTICLES', 'GOALS', 'PEPTIDES', 'RESEARCH_PAPERS'];
