import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';
import { FREE_TEXT, PERSONAL, SECRET } from '../../runtime/data/safe-views.js';

/** One engine for all collections: values lie in `data`, what is looked up by value in `content_key`. Source: content 1.1. */
const ITEMS = `
create table content.content_item (
  id uuid primary key,
  collection text not null,
  brand_id uuid,
  base_locale text not null,
  status text not null default 'DRAFT' constraint content_item_status_check check (status in ('DRAFT', 'PUBLISHED', 'ARCHIVED')),
  version int not null default 1,
  revision int not null default 1,
  source_ref text,
  embedded_version int,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  first_published_at timestamptz(3),
  created_by uuid,
  updated_by uuid
);
create index content_item_collection on content.content_item (collection, updated_at, id);
create unique index content_item_source_ref on content.content_item (source_ref) where source_ref is not null;
create table content.content_revision (
  item_id uuid not null,
  number int not null,
  schema_version int not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  created_by uuid,
  deleted_at timestamptz(3),
  constraint content_revision_pkey primary key (item_id, number)
);
create table content.content_publication (
  item_id uuid not null constraint content_publication_item_id_foreign references content.content_item (id),
  locale text not null,
  any_locale boolean not null,
  collection text not null,
  brand_id uuid,
  audience text not null,
  slug text,
  title text not null,
  tags text[] not null,
  data jsonb not null,
  schema_version int not null,
  revision int not null,
  item_version int not null,
  position double precision,
  tested_on text,
  created_at timestamptz(3) not null,
  first_published_at timestamptz(3) not null,
  published_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint content_publication_pkey primary key (item_id, locale)
);
create index content_publication_list on content.content_publication (collection, published_at desc, item_id desc);
create index content_publication_slug on content.content_publication (collection, slug) where slug is not null;
create table content.content_slug (
  collection text not null,
  brand_id uuid,
  locale text,
  slug text not null,
  item_id uuid not null,
  state text not null constraint content_slug_state_check check (state in ('RESERVED', 'CURRENT', 'RETIRED')),
  constraint content_slug_unique unique nulls not distinct (collection, brand_id, locale, slug)
);
create index content_slug_item on content.content_slug (item_id);
create table content.content_key (
  item_id uuid not null,
  collection text not null,
  name text not null,
  brand_id uuid,
  locale text,
  value text,
  number double precision,
  is_unique boolean not null
);
create unique index content_key_unique on content.content_key (collection, name, brand_id, locale, value) nulls not distinct where is_unique;
create index content_key_value on content.content_key (collection, name, value) where not is_unique;
create index content_key_number on content.content_key (collection, name, number) where number is not null;
create index content_key_item on content.content_key (item_id);
create table content.content_reference (
  item_id uuid not null,
  target_id uuid not null,
  is_published boolean not null,
  constraint content_reference_pkey primary key (item_id, target_id, is_published)
);
create index content_reference_target on content.content_reference (target_id);
create table content.content_version (
  collection text primary key,
  version int not null
)`;

const EDITING = `
create table content.content_release (
  id uuid primary key,
  name text not null,
  status text not null default 'OPEN' constraint content_release_status_check
    check (status in ('OPEN', 'SCHEDULED', 'PUBLISHED', 'FAILED', 'CANCELLED')),
  publish_at timestamptz(3),
  published_at timestamptz(3),
  created_at timestamptz(3) not null,
  version int not null default 1
);
create index content_release_due on content.content_release (publish_at) where status = 'SCHEDULED';
create table content.content_release_item (
  release_id uuid not null constraint content_release_item_release_id_foreign references content.content_release (id),
  item_id uuid not null,
  revision int not null,
  locales text[],
  reason text,
  constraint content_release_item_pkey primary key (release_id, item_id)
);
create index content_release_item_item on content.content_release_item (item_id);
create table content.content_comment (
  id uuid primary key,
  item_id uuid not null,
  pointer text,
  locale text,
  text text not null,
  author_id uuid,
  created_at timestamptz(3) not null,
  resolved_at timestamptz(3)
);
create index content_comment_item on content.content_comment (item_id, created_at);
create table content.content_synonym (
  locale text not null,
  term text not null,
  synonyms text[] not null,
  constraint content_synonym_pkey primary key (locale, term)
);
create table content.preview_token (
  hash text primary key,
  item_id uuid not null,
  revision int,
  expires_at timestamptz(3) not null
)`;

const POLICIES = `
create table content.policy_version (
  id uuid primary key,
  item_id uuid not null,
  version int not null,
  title text not null,
  body jsonb not null,
  body_sha256 text not null,
  kind text not null,
  summary_of_changes text,
  effective_at timestamptz(3) not null,
  requires_acceptance boolean not null,
  published_by uuid,
  created_at timestamptz(3) not null,
  in_force boolean not null default false,
  constraint policy_version_item_id_version_unique unique (item_id, version)
);
create index policy_version_due on content.policy_version (effective_at) where not in_force;
create table content.policy_acceptance (
  id uuid primary key,
  user_id uuid not null,
  item_id uuid not null,
  slug text not null,
  version int not null,
  accepted_at timestamptz(3) not null,
  client_id text not null,
  locale text not null,
  body_sha256 text not null,
  withdrawn_at timestamptz(3),
  constraint policy_acceptance_user_id_item_id_version_unique unique (user_id, item_id, version)
);
create index policy_acceptance_item on content.policy_acceptance (item_id, version, accepted_at, id)`;

const MEDIA = `
create table content.media_asset (
  item_id uuid primary key,
  brand_id uuid,
  status text not null constraint media_asset_status_check check (status in ('UPLOADING', 'PROCESSING', 'READY', 'REJECTED')),
  kind text not null,
  filename text not null,
  mime_type text not null,
  bytes int not null,
  sha256 text,
  upload_sha256 text,
  width int,
  height int,
  blurhash text,
  reason text,
  created_at timestamptz(3) not null
);
create index media_asset_sha256 on content.media_asset (sha256);
create unique index media_asset_upload on content.media_asset (brand_id, upload_sha256) nulls not distinct where status = 'READY' and upload_sha256 is not null;
create table content.media_rendition (
  item_id uuid not null,
  width int not null,
  format text not null,
  sha256 text not null,
  bytes int not null,
  constraint media_rendition_pkey primary key (item_id, width, format)
);
create index media_rendition_sha256 on content.media_rendition (sha256);
create table content.media_upload (
  token_hash text primary key,
  item_id uuid not null,
  bytes int not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
)`;

const SEARCH = `
create function content.fold(x text) returns text language sql immutable parallel safe strict
  return lower(extensions.unaccent('extensions.unaccent'::regdictionary, x) collate "und-x-icu");
create table content.content_document (
  item_id uuid not null,
  locale text not null,
  any_locale boolean not null,
  collection text not null,
  brand_id uuid,
  audience text not null,
  slug text,
  title text not null,
  names text not null,
  codes text[] not null,
  summary text not null,
  body text not null,
  tsv tsvector not null,
  tags text[] not null,
  goals text[] not null,
  peptides text[] not null,
  evidence_level text,
  demoted boolean not null,
  review_due text,
  published_at timestamptz(3) not null,
  constraint content_document_pkey primary key (item_id, locale)
);
create index content_document_tsv on content.content_document using gin (tsv);
create index content_document_names on content.content_document using gin (names extensions.gin_trgm_ops);
create index content_document_codes on content.content_document using gin (codes)`;

const LINKS = `
create table content.link_preview (
  url_hash text primary key,
  url text not null,
  data jsonb not null,
  fetched_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
)`;

/** Columns that no safe view shows, with the reason. */
const MARKS: readonly [string, string, string][] = [
  ['content_revision', 'data', FREE_TEXT],
  ['content_publication', 'data', FREE_TEXT],
  ['content_publication', 'title', FREE_TEXT],
  ['content_key', 'value', FREE_TEXT],
  ['content_comment', 'text', FREE_TEXT],
  ['content_release', 'name', FREE_TEXT],
  ['content_release_item', 'reason', FREE_TEXT],
  ['policy_version', 'title', FREE_TEXT],
  ['policy_version', 'body', FREE_TEXT],
  ['policy_version', 'summary_of_changes', FREE_TEXT],
  ['policy_acceptance', 'user_id', PERSONAL],
  ['policy_acceptance', 'client_id', PERSONAL],
  ['media_asset', 'filename', FREE_TEXT],
  ['media_asset', 'upload_sha256', SECRET],
  ['media_upload', 'token_hash', SECRET],
  ['preview_token', 'hash', SECRET],
  ['content_document', 'title', FREE_TEXT],
  ['content_document', 'names', FREE_TEXT],
  ['content_document', 'summary', FREE_TEXT],
  ['content_document', 'body', FREE_TEXT],
  ['content_document', 'tsv', FREE_TEXT],
  ['link_preview', 'url', FREE_TEXT],
  ['link_preview', 'data', FREE_TEXT],
];

/** Tables that are shown to the read-only role, without their marked columns. */
const SHOWN = [
  'content_item',
  'content_revision',
  'content_publication',
  'content_key',
  'content_comment',
  'content_release',
  'content_release_item',
  'policy_version',
  'policy_acceptance',
  'media_asset',
  'media_upload',
  'preview_token',
  'content_document',
  'link_preview',
];

/** A view of the columns of a table that bear no mark. */
const safeView = (table: string): string => `do $view$ begin
  execute (select format('create view content.${table}_safe as select %s from content.${table}', string_agg(quote_ident(attname), ', ' order by attnum))
    from pg_attribute where attrelid = 'content.${table}'::regclass and attnum > 0 and not attisdropped and col_description(attrelid, attnum) is null);
end $view$`;

/** The engine of all collections, and what stands beside it. Source: content 2. */
export class Content extends Migration {
  override async up(): Promise<void> {
    for (const statement of houseTables('content')) this.addSql(statement);
    for (const group of [ITEMS, EDITING, POLICIES, MEDIA, SEARCH, LINKS])
      for (const one of group.split(';\n')) if (one.trim()) this.addSql(one);
    for (const [table, column, mark] of MARKS) this.addSql(`comment on column content.${table}.${column} is '${mark}'`);
    for (const table of SHOWN) {
      this.addSql(safeView(table));
      for (const statement of grantSafeView('content', `${table}_safe`)) this.addSql(statement);
    }
  }
}
