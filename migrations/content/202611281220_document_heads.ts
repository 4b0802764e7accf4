import { Migration } from '@mikro-orm/migrations';

/**
 * The words of a document's title, names, codes, summary and tags, beside those of the whole. Where thousands of documents match they are ranked by
 * these: a vector of the whole lies compressed, and reading it three times for each of 15,000 documents took more than a second. Whether that many
 * match the index tells; without the setting the planner reads those vectors instead.
 */
export class DocumentHeads extends Migration {
  override up(): void {
    this.addSql(
      `alter table content.content_document add column head tsvector generated always as (ts_filter(tsv, '{a,b}')) stored not null`,
    );
    this
      .addSql(`create function content.matches_more_than(query tsquery, most int) returns boolean language sql stable set enable_seqscan = off as $$
      select count(*) > most from (select from content.content_document d where d.tsv @@ query limit most + 1) n $$`);
  }
}
