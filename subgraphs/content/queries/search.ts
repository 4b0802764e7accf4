/** Full-text search inside the content transaction: what is published is found at once, and nothing else. Source: content 4.4. */
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { decodeCursor } from '../../../runtime/request/paging.js';
import type { ContentFacetCount, ContentFacets, ContentSearchResult, ContentSearchHit } from '../entities/search.js';
import type { ContentCollection } from '../entities/enums.js';
import { languageOf } from '../rules/search-words.js';
import { highlighted, parseQuery, snippetOf, suggestionFor, type Piece, type SearchQuery, type Term } from '../rules/search-query.js';
import { html } from '../../../runtime/http/html.js';
import { cardOf } from './cards.js';
import { bestLocale, isReadable, loadItem, shownOf, Statement } from './delivery.js';
import type { View } from './view.js';

const MOST_COUNTED = 1000;
const DEEPEST = 500;
/** Fewer hits than this, and the next stage is tried. */
const ENOUGH = 5;
/** How alike names must be, the nearest first: at 0.45 a third of all names can be, which are then all compared. Source: content 4.4. */
const SIMILAR = [0.7, 0.45];
/** So many near ones, the usual page, and what is less alike is not looked for. */
const NEAR = 20;
/** With more matches than this, titles and summaries alone are ranked. Source: content 4.4. */
const WIDE = 2000;

export interface SearchAsked {
  q: string;
  types?: readonly ContentCollection[] | null;
  tags?: readonly string[] | null;
  goal?: readonly string[] | null;
  peptide?: readonly string[] | null;
  evidenceLevel?: readonly string[] | null;
  from?: string | null;
  to?: string | null;
  facets?: readonly string[] | null;
  sort: string;
}

/** A hit as it is ranked, without its texts. */
interface Row {
  item_id: string;
  locale: string;
  collection: ContentCollection;
  score: number;
  tags: string[];
  goals: string[];
  peptides: string[];
  evidence_level: string | null;
  published_at: string;
}

type Language = ReturnType<typeof languageOf>;
type Synonyms = ReadonlyMap<string, readonly string[]>;

/** A term and what means the same, as a `tsquery`. */
function termQuery({ text, isPhrase, code }: Term, language: Language, synonyms: Synonyms, sql: Statement): string {
  const config = `'${language}'::regconfig`;
  const of = (one: string, phrase: boolean) => `${phrase ? 'phraseto' : 'plainto'}_tsquery(${config}, content.fold(${sql.add(one)}::text))`;
  const others = synonyms.get(text.toLowerCase()) ?? [];
  return `(${[of(text, isPhrase), ...(code ? [of(code, false)] : []), ...others.map(one => of(one, true))].join(' || ')})`;
}

interface Queries {
  /** One per group. */
  groups: string[];
  excluded: string | null;
}

function queriesIn(query: SearchQuery, language: Language, synonyms: Synonyms, sql: Statement): Queries {
  const any = (terms: readonly Term[]): string => terms.map(term => termQuery(term, language, synonyms, sql)).join(' || ');
  return { groups: query.groups.map(group => `(${any(group)})`), excluded: query.excluded.length > 0 ? `(${any(query.excluded)})` : null };
}

/** Languages in which documents of a view can be written, with the condition on `d` that chooses them. */
function languagesOf({ chain }: View): [Language, string][] {
  const all = [...new Set<Language>([...chain.map(languageOf), 'english'])];
  const prefix = { english: 'en', german: 'de', french: 'fr', spanish: 'es' } as const;
  const known = Object.values(prefix).map(one => `'${one}'`);
  return all.map(language => [
    language,
    language === 'simple'
      ? `split_part(d.locale, '-', 1) not in (${known.join(', ')})`
      : `split_part(d.locale, '-', 1) = '${prefix[language]}'`,
  ]);
}

function filters(asked: SearchAsked, view: View, sql: Statement): string {
  const list = (value: readonly string[] | null | undefined) => (value?.length ? sql.add(value, '::text[]') : null);
  const items = (value: readonly string[] | null | undefined) => (value?.length ? shownOf(sql.add(value), view, sql) : null);
  const [types, tags, evidence] = [asked.types, asked.tags?.map(tag => tag.toLowerCase()), asked.evidenceLevel].map(list);
  const [goal, peptide] = [asked.goal, asked.peptide].map(items);
  return [
    isReadable(view, sql, 'd'),
    types && `d.collection = any(${types})`,
    tags && `d.tags && ${tags}`,
    goal && `d.goals && ${goal}`,
    peptide && `d.peptides && ${peptide}`,
    evidence && `d.evidence_level = any(${evidence})`,
    asked.from && `d.published_at >= ${sql.add(asked.from)}::date`,
    asked.to && `d.published_at < ${sql.add(asked.to)}::date + 1`,
  ]
    .filter(Boolean)
    .join(' and ');
}

/** Of a document that is found, until the best are known. */
const KEY = 'd.item_id, d.locale, d.published_at';

/** Between the names of a document, the title first, and around them. */
const BETWEEN = "' ' || chr(10) || ' '";

/** A title, alias or code that is exactly what was asked. Names are kept folded: folding them here took 8 µs for each of thousands. */
const exactly = (q: string, codes: readonly string[], sql: Statement): string =>
  `(case when position(${BETWEEN} || content.fold(${sql.add(q.trim())}::text) || ${BETWEEN} in ${BETWEEN} || d.names || ${BETWEEN}) > 0 then 4
    when d.codes && ${sql.add(codes, '::text[]')} then 1.5 else 0 end)`;

/** Papers that were withdrawn and articles whose review is due rank below others. */
const demotion = (view: View, sql: Statement): string =>
  `(case when d.demoted then 2 else 0 end + case when d.review_due < ${sql.add(view.today)} then 0.3 else 0 end)`;

/** What tells of a subject itself comes before what mentions it. */
const KIND =
  "(case d.collection when 'PEPTIDES' then 0.12 when 'GOALS' then 0.12 when 'LEARN_ARTICLES' then 0.06 when 'PROTOCOL_DETAILS' then 0.04 when 'COAS' then -0.1 when 'POSTS' then -0.05 else 0 end)";

/** A `tsquery` whose words stand in the title, a name or a code. The words of its text are in quotes, their own ones doubled. */
const inNames = (query: string): string => `regexp_replace((${query})::text, '''((?:[^'']|'''')+)''', '''\\1'':A', 'g')::tsquery`;

/** A phrase is asked for in every stage. */
const isPhrase = (group: readonly Term[]): boolean => group.every(term => term.isPhrase);

/** Documents with all words, or with any of them. */
async function byWords(
  ctx: Context,
  view: View,
  asked: SearchAsked,
  query: SearchQuery,
  synonyms: Synonyms,
  mode: 'all' | 'any',
): Promise<Row[]> {
  const sql = new Statement();
  const where = filters(asked, view, sql);
  const codes = query.groups.flat().flatMap(({ code }) => code ?? []);
  const exact = exactly(query.words.join(' '), codes, sql);
  const less = demotion(view, sql);
  const order = bestLocale(view, sql, 'd');
  const phrases = query.groups.flatMap((group, at) => (isPhrase(group) ? [at] : []));
  const parts = languagesOf(view).map(([language, condition]) => {
    const { groups, excluded } = queriesIn(query, language, synonyms, sql);
    const words = { any: groups.join(' || '), all: groups.join(' && ') };
    const covered =
      mode === 'all' ? '1' : `(${groups.map((_, at) => `(v.ranked @@ q.g[${at + 1}])::int`).join(' + ')})::float8 / ${groups.length}`;
    const named = groups.map((_, at) => `(d.head @@ q.names[${at + 1}])::int`);
    const isWide = `(select content.matches_more_than(${words[mode]}, ${WIDE}))`; // once, not for each row
    const once = `(select case when ${isWide} then d.head else d.tsv || ''::tsvector end as ranked, ${named.join(' + ')} as named offset 0) v`; // unpacked by one function
    const score = `case when v.named > 0 then ${exact} else 0 end + ${covered} + ts_rank('{0.1,0.3,0.5,1}', v.ranked, q.any_word, 1)
      + 0.8 * v.named::float8 / ${groups.length} + ${KIND} - ${less}`;
    return `select ${KEY}, ${order} as place, ${score} as score
      from content.content_document d, (select array[${groups.join(', ')}]::tsquery[] as g, array[${groups.map(inNames).join(', ')}] as names, ${words.any} as any_word, ${words.all} as all_words, ${excluded ?? "''::tsquery"} as excluded) q,
        lateral ${once}
      where ${condition} ${phrases.map(at => `and d.tsv @@ q.g[${at + 1}]`).join(' ')} and d.tsv @@ q.${mode === 'all' ? 'all_words' : 'any_word'} ${excluded ? 'and not d.tsv @@ q.excluded' : ''} and ${where}`;
  });
  return ranked(ctx, parts.join(' union all '), asked, sql);
}

/** One row per item, best first: facts of a document are read when it is known to be among them. */
function ranked(ctx: Pick<Context, 'sql'>, text: string, { sort }: SearchAsked, sql: Statement): Promise<Row[]> {
  const order = (table: string): string =>
    (sort === 'NEWEST' ? '' : `${table}.score desc, `) + `${table}.published_at desc, ${table}.item_id`;
  return ctx.sql<Row>(
    `with best as (select * from (select distinct on (item_id) * from (${text}) found order by item_id, place) one order by ${order('one')} limit ${MOST_COUNTED + 1})
    select d.item_id, d.locale, best.score, d.collection, d.tags, d.goals, d.peptides, d.evidence_level, d.published_at::text as published_at
    from best join content.content_document d on d.item_id = best.item_id and d.locale = best.locale order by ${order('best')}`,
    sql.values,
  );
}

/** Documents whose names look like what was asked. A threshold holds for this transaction. */
function bySimilarity(ctx: Context, view: View, asked: SearchAsked, query: SearchQuery, synonyms: Synonyms): Promise<Row[]> {
  const { text, sql } = similar(view, asked, query, synonyms);
  return ctx.host.transaction(async inner => {
    let found: Row[] = [];
    for (const threshold of SIMILAR) {
      if (found.length >= NEAR) break;
      await inner.sql(`select set_config('pg_trgm.word_similarity_threshold', '${threshold}', true)`);
      found = await ranked(inner, text, asked, sql);
    }
    return found;
  });
}

function similar(view: View, asked: SearchAsked, query: SearchQuery, synonyms: Synonyms): { text: string; sql: Statement } {
  const sql = new Statement();
  const where = filters(asked, view, sql);
  const q = sql.add(query.words.join(' '), '::text');
  const excluded = languagesOf(view).map(([language, condition]) => {
    const { excluded: words } = queriesIn({ ...query, groups: [] }, language, synonyms, sql); // a parameter that is not used has no type
    return words === null ? null : `not (${condition} and d.tsv @@ ${words})`;
  });
  const text = `select ${KEY}, ${bestLocale(view, sql, 'd')} as place,
      extensions.word_similarity(content.fold(${q}), d.names) + 0.1 * extensions.similarity(content.fold(${q}), d.names) + ${KIND} - ${demotion(view, sql)} as score
    from content.content_document d where content.fold(${q}) operator(extensions.<%) d.names
      and numnode(plainto_tsquery('english', content.fold(${q}))) > 0 and numnode(plainto_tsquery('german', content.fold(${q}))) > 0 and ${[where, ...excluded.filter(Boolean)].join(' and ')}`;
  return { text, sql };
}

async function synonymsFor(ctx: Context, view: View, { words }: SearchQuery): Promise<Synonyms> {
  const text =
    'select term, synonyms from content.content_synonym where locale = any($1) and term = any(array(select content.fold(w) from unnest($2::text[]) w))';
  const rows = await ctx.sql<{ term: string; synonyms: string[] }>(text, [view.chain, words]);
  return new Map(rows.map(({ term, synonyms }) => [term, synonyms]));
}

interface Texts {
  item_id: string;
  locale: string;
  title: string;
  slug: string | null;
  names: string;
  summary: string;
  body: string;
}

const TEXTS = `select item_id, locale, title, slug, names, summary, left(body, 20000) as body from content.content_document
  where (item_id, locale) in (select * from unnest($1::uuid[], $2::text[]))`;

const marked = (pieces: readonly Piece[]): string =>
  pieces.map(({ text, match }) => (match ? html`<mark>${text}</mark>` : html`${text}`).text).join('');

async function hitOf(
  ctx: Context,
  view: View,
  row: Row & { matched: string },
  text: Texts,
  words: readonly string[],
): Promise<ContentSearchHit> {
  const snippet = snippetOf([text.summary, text.body].filter(Boolean).join(' … '), words);
  const item = await loadItem(ctx, view, row.item_id);
  return {
    id: row.item_id,
    collection: row.collection,
    slug: text.slug,
    locale: row.locale,
    title: text.title,
    titleHighlights: highlighted(text.title, words),
    snippet,
    snippetHtml: marked(snippet),
    score: Math.round(row.score * 1000) / 1000,
    matched: row.matched,
    card: item && (await cardOf(ctx, item)),
  };
}

function counted(values: readonly string[]): ContentFacetCount[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, 50);
}

function facetsOf(rows: readonly Row[], asked: readonly string[] | null | undefined): ContentFacets {
  const wanted = new Set(asked ?? []);
  return {
    ...(wanted.has('TYPE') && { type: counted(rows.map(row => row.collection.toLowerCase())) }),
    ...(wanted.has('TAGS') && { tags: counted(rows.flatMap(row => row.tags)) }),
    ...(wanted.has('GOAL') && { goal: counted(rows.flatMap(row => row.goals)) }),
    ...(wanted.has('PEPTIDE') && { peptide: counted(rows.flatMap(row => row.peptides)) }),
    ...(wanted.has('EVIDENCE_LEVEL') && {
      evidenceLevel: counted(rows.flatMap(row => (row.evidence_level === null ? [] : [row.evidence_level.toLowerCase()]))),
    }),
  };
}

/** Targets of facets that the reader may not see are not counted by their ids. */
async function withoutHidden(ctx: Context, view: View, facets: ContentFacets): Promise<ContentFacets> {
  const seen = async (counts: ContentFacetCount[] | undefined) => {
    if (!counts) return undefined;
    const items = await Promise.all(counts.map(({ value }) => loadItem(ctx, view, value)));
    return counts.filter((_, at) => items[at] !== null);
  };
  return {
    ...facets,
    ...(facets.goal && { goal: await seen(facets.goal) }),
    ...(facets.peptide && { peptide: await seen(facets.peptide) }),
  };
}

/** All hits of a query in their order, at most 1001. */
async function hitsOf(ctx: Context, view: View, asked: SearchAsked, query: SearchQuery): Promise<(Row & { matched: string })[]> {
  if (query.groups.length === 0) return [];
  const synonyms = await synonymsFor(ctx, view, query);
  const text = (rows: readonly Row[]) => rows.map(row => ({ ...row, matched: 'TEXT' }));
  const all = text(await byWords(ctx, view, asked, query, synonyms, 'all'));
  if (all.length >= ENOUGH) return all;
  const some = query.groups.length > 1 ? text(await byWords(ctx, view, asked, query, synonyms, 'any')) : [];
  const words = joined(all, some);
  if (words.length >= ENOUGH || query.groups.some(isPhrase)) return words;
  const fuzzy = await bySimilarity(ctx, view, asked, query, synonyms);
  return joined(
    words,
    fuzzy.map(row => ({ ...row, matched: 'FUZZY', score: row.score - 10 })),
  );
}

function joined<Hit extends Row>(first: readonly Hit[], then: readonly Hit[]): Hit[] {
  const known = new Set(first.map(row => row.item_id));
  return [...first, ...then.filter(row => !known.has(row.item_id))];
}

function startOf(after: string | null | undefined): number {
  if (after == null) return 0;
  const [at] = decodeCursor(after, 1);
  if (typeof at !== 'number' || !Number.isInteger(at) || at < 0) decodeCursor('', 1);
  if ((at as number) >= DEEPEST)
    fail('invalid_request', 'The input is invalid', { errors: [{ pointer: '/after', message: `is deeper than ${DEEPEST} hits` }] });
  return at as number;
}

const cursorOf = (at: number): string => Buffer.from(JSON.stringify([at])).toString('base64url');

/** Searches what the reader may read. No query, however formed, is an error. */
export async function searchContent(
  ctx: Context,
  view: View,
  asked: SearchAsked,
  { first, after }: { first: number; after?: string | null },
): Promise<ContentSearchResult> {
  const started = performance.now();
  const [query, from] = [parseQuery(asked.q), startOf(after)];
  const hits = await hitsOf(ctx, view, asked, query);
  const counting = hits.slice(0, MOST_COUNTED);
  const page = counting.slice(from, Math.min(from + first, DEEPEST));
  const texts = page.length > 0 ? await ctx.sql<Texts>(TEXTS, [page.map(row => row.item_id), page.map(row => row.locale)]) : [];
  const textOf = (row: Row) => texts.find(one => one.item_id === row.item_id && one.locale === row.locale);
  const isFuzzy = page.length > 0 && page.every(row => row.matched === 'FUZZY');
  const nodes = await Promise.all(page.flatMap(row => (textOf(row) ? [hitOf(ctx, view, row, textOf(row)!, query.words)] : [])));
  const until = from + page.length;
  return {
    data: nodes,
    nextCursor: page.length > 0 && until < Math.min(counting.length, DEEPEST) ? cursorOf(until) : null,
    facets: await withoutHidden(ctx, view, facetsOf(counting, asked.facets)),
    total: counting.length,
    totalIsExact: hits.length <= MOST_COUNTED,
    suggestion: isFuzzy
      ? suggestionFor(
          query.words,
          texts.map(({ names }) => names),
        )
      : null,
    tookMs: Math.round(performance.now() - started),
  };
}

/** Titles that begin with, or hold a word that begins with, what was typed. */
export async function suggestions(ctx: Context, view: View, prefix: string, limit: number): Promise<string[]> {
  const sql = new Statement();
  const typed = `replace(replace(content.fold(${sql.add(prefix.trim())}::text), '%', ''), '_', '')`;
  const text = `select title from (select distinct on (d.item_id) d.title, d.published_at, d.locale from content.content_document d
      where ${isReadable(view, sql, 'd')} and (content.fold(d.title) like ${typed} || '%' or d.names like '% ' || ${typed} || '%')
      order by d.item_id, ${bestLocale(view, sql, 'd')}) found group by title order by length(title), title limit ${sql.add(limit, '::int')}`;
  return prefix.trim() === '' ? [] : (await ctx.sql<{ title: string }>(text, sql.values)).map(({ title }) => title);
}
