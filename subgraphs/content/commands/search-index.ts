/** The search row of an item, written in the transaction that publishes it, so that search never lags. Source: content 4.4. */
import type { Context } from '../../../runtime/request/context.js';
import type { CollectionDefinition } from '../entities/definition.js';
import { codeForms, languageOf } from '../rules/search-words.js';
import { at, searchTexts, type Values } from '../rules/values.js';

const ROWS = 'select locale, data from content.content_publication where item_id = $1';

const INDEX = `insert into content.content_document (item_id, locale, any_locale, collection, brand_id, audience, slug, title, names, codes, summary, body, tsv, tags,
    goals, peptides, evidence_level, demoted, review_due, published_at)
  select p.item_id, p.locale, p.any_locale, p.collection, p.brand_id, p.audience, p.slug, p.title, content.fold($3), $4, $5, $6,
    setweight(to_tsvector($7::regconfig, content.fold($8)), 'A') || setweight(to_tsvector($7::regconfig, content.fold($5 || ' ' || array_to_string(p.tags, ' '))), 'B')
      || setweight(to_tsvector($7::regconfig, content.fold($9)), 'C') || setweight(to_tsvector($7::regconfig, content.fold($6)), 'D'),
    p.tags, $10, $11, $12, $13, $14, p.published_at
  from content.content_publication p where p.item_id = $1 and p.locale = $2
  on conflict (item_id, locale) do update set audience = excluded.audience, slug = excluded.slug, title = excluded.title, names = excluded.names,
    codes = excluded.codes, summary = excluded.summary, body = excluded.body, tsv = excluded.tsv, tags = excluded.tags, goals = excluded.goals,
    peptides = excluded.peptides, evidence_level = excluded.evidence_level, demoted = excluded.demoted, review_due = excluded.review_due,
    published_at = excluded.published_at`;

const listAt = (values: Values, path: string | undefined): string[] => {
  const value = path === undefined ? undefined : at(values, path);
  return value == null ? [] : [value].flat().map(String);
};

/** PostgreSQL refuses a document of more than a megabyte of words. */
const MOST_TEXT = 200_000;

function rowOf(definition: CollectionDefinition, locale: string, values: Values): unknown[] {
  const texts = searchTexts(definition, values);
  const { goal, peptide, evidence_level: evidence } = definition.facets ?? {};
  const names = [texts.title, ...texts.names];
  const codes = [...new Set(names.flatMap(codeForms))];
  const headings = texts.headings.join('\n');
  return [
    names.join(' \n '),
    codes,
    texts.summary,
    texts.body.join('\n').slice(0, MOST_TEXT),
    languageOf(locale),
    [...names, ...codes].join(' '),
    headings.slice(0, MOST_TEXT),
    listAt(values, goal),
    definition.collection === 'STACKS' ? componentsOf(values) : listAt(values, peptide),
    listAt(values, evidence)[0] ?? null,
    values.retracted === true,
    typeof values.nextReviewOn === 'string' ? values.nextReviewOn : null,
  ];
}

const componentsOf = ({ components }: Values): string[] =>
  ((components as { peptide?: string }[] | undefined) ?? []).flatMap(one => one.peptide ?? []);

/** Brings the search rows of an item to what is published of it. */
export async function indexItem(ctx: Context, definition: CollectionDefinition, itemId: string): Promise<void> {
  if (!definition.searchable) return;
  for (const { locale, data } of await ctx.sql<{ locale: string; data: Values }>(ROWS, [itemId])) {
    await ctx.sql(INDEX, [itemId, locale, ...rowOf(definition, locale, data)]);
  }
}

export const unindexItem = (ctx: Context, itemId: string, locales: readonly string[]) =>
  ctx.sql('delete from content.content_document where item_id = $1 and locale = any($2)', [itemId, locales]);
