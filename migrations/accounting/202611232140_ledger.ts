import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

const ROLE = 'platform_accounting';

/** Balances are a cache that can be rebuilt from entries; a hot account's row is rewritten in place, so its page keeps room. */
const ACCOUNTS = `
create table accounting.ledger_account (
  id uuid primary key,
  code text not null constraint ledger_account_code_unique unique,
  name text not null,
  type text not null constraint ledger_account_type_check check (type in ('asset', 'liability', 'equity', 'income', 'expense')),
  normal_side text not null constraint ledger_account_normal_side_check check (normal_side in ('debit', 'credit')),
  currency char(3) not null,
  status text not null default 'open' constraint ledger_account_status_check check (status in ('open', 'frozen', 'closed')),
  floor bigint,
  posted_debits bigint not null default 0,
  posted_credits bigint not null default 0,
  pending_debits bigint not null default 0,
  pending_credits bigint not null default 0,
  entry_count bigint not null default 0,
  event_count bigint not null default 0,
  user_id uuid,
  created_at timestamptz(3) not null,
  constraint ledger_account_code_check check (code ~ '^[a-z0-9_.-]+(:[a-z0-9_.-]+)*$' and length(code) <= 200),
  constraint ledger_account_totals_check check (posted_debits >= 0 and posted_credits >= 0 and pending_debits >= 0 and pending_credits >= 0)
) with (fillfactor = 50);
create index ledger_account_user_id on accounting.ledger_account (user_id) where user_id is not null;
create index ledger_account_created_at_id on accounting.ledger_account (created_at, id);

create table accounting.wallet (
  id uuid primary key,
  user_id uuid not null,
  kind text not null constraint wallet_kind_check check (kind in ('cash', 'earnings', 'credit')),
  currency char(3) not null,
  account_id uuid not null constraint wallet_account_id_unique unique
    constraint wallet_account_id_foreign references accounting.ledger_account (id),
  created_at timestamptz(3) not null,
  constraint wallet_user_id_kind_currency_unique unique (user_id, kind, currency)
);
revoke delete, truncate on accounting.ledger_account, accounting.wallet from ${ROLE}`;

/**
 * No foreign keys on the posting path: the writer holds the accounts' locks, the triggers below see to the rest, and each check would cost
 * a lookup per row. \`xid\` orders the rows for the sealer.
 */
const TRANSACTIONS = `
create table accounting.ledger_transaction (
  id uuid primary key,
  kind text not null constraint ledger_transaction_kind_check check (kind in ('direct', 'pending', 'post_pending', 'void_pending', 'reversal')),
  source_service text not null,
  source_type text not null,
  source_id text not null,
  rule_version int,
  description text not null,
  user_id uuid,
  effective_at timestamptz(3) not null,
  posted_at timestamptz(3) not null,
  expires_at timestamptz(3),
  pending_id uuid,
  reverses uuid,
  metadata jsonb not null,
  content_hash bytea not null,
  request_hash bytea,
  xid xid8 not null default pg_current_xact_id(),
  constraint ledger_transaction_source_unique unique (source_service, source_type, source_id)
);
create unique index ledger_transaction_pending_id_unique on accounting.ledger_transaction (pending_id) where pending_id is not null;
create unique index ledger_transaction_reverses_unique on accounting.ledger_transaction (reverses) where reverses is not null;
create index ledger_transaction_xid_id on accounting.ledger_transaction (xid, id);
create index ledger_transaction_posted_at_id on accounting.ledger_transaction (posted_at, id);
create index ledger_transaction_user_id on accounting.ledger_transaction (user_id, posted_at, id) where user_id is not null;

create table accounting.ledger_entry (
  transaction_id uuid not null,
  line smallint not null,
  id uuid not null,
  account_id uuid not null,
  direction text not null constraint ledger_entry_direction_check check (direction in ('debit', 'credit')),
  amount bigint not null constraint ledger_entry_amount_check check (amount between 1 and 9007199254740991),
  currency char(3) not null,
  posted boolean not null,
  balance_after bigint not null,
  account_version bigint,
  effective_at timestamptz(3) not null,
  posted_at timestamptz(3) not null,
  flow_id text,
  constraint ledger_entry_pkey primary key (transaction_id, line),
  constraint ledger_entry_account_version_check check (posted = (account_version is not null))
);
create unique index ledger_entry_account_version on accounting.ledger_entry (account_id, account_version) where account_version is not null;
create index ledger_entry_account_flow on accounting.ledger_entry (account_id, flow_id) where flow_id is not null;

create table accounting.pending_resolution (
  pending_id uuid primary key,
  transaction_id uuid not null constraint pending_resolution_transaction_id_unique unique,
  outcome text not null constraint pending_resolution_outcome_check check (outcome in ('posted', 'voided', 'expired')),
  at timestamptz(3) not null
);

create table accounting.pending_expiry (transaction_id uuid primary key, expires_at timestamptz(3) not null);
create index pending_expiry_expires_at on accounting.pending_expiry (expires_at)`;

const CHAIN = `
create table accounting.chain_leaf (
  sequence bigint primary key,
  transaction_id uuid not null constraint chain_leaf_transaction_id_unique unique,
  height bigint not null,
  content_hash bytea not null
);
create table accounting.chain_block (
  height bigint primary key,
  from_sequence bigint not null,
  to_sequence bigint not null,
  merkle_root bytea not null,
  previous_hash bytea not null,
  hash bytea not null,
  sealed_at timestamptz(3) not null,
  last_xid xid8 not null,
  last_id uuid not null
);
create table accounting.chain_head (
  height bigint primary key,
  hash bytea not null,
  sealed_at timestamptz(3) not null,
  key_id text not null,
  signature bytea not null
);
create table accounting.chain_key (key_id text primary key, public_key bytea not null, valid_from timestamptz(3) not null)`;

const PERIODS = `
create table accounting.accounting_period (
  id uuid primary key,
  name text not null constraint accounting_period_name_unique unique,
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  status text not null default 'open' constraint accounting_period_status_check check (status in ('open', 'closed')),
  closed_at timestamptz(3),
  closed_by text,
  constraint accounting_period_ends_at_check check (ends_at > starts_at)
);
revoke delete, truncate on accounting.accounting_period from ${ROLE}`;

/** \`recognised\` and \`drawn\` are what entries took out of deferred revenue; \`base_*\`: since when the rest is spread, and what was recognised by then. */
const RECOGNITION = `
create table accounting.recognition_schedule (
  key text primary key,
  currency char(3) not null,
  user_id uuid,
  subscription_id uuid,
  amount bigint not null default 0,
  recognised bigint not null default 0,
  drawn bigint not null default 0,
  owed bigint not null default 0,
  refunded_gross bigint not null default 0,
  invoice_refunded bigint not null default 0,
  invoice_total bigint,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  base_at timestamptz(3),
  base_recognised bigint not null default 0,
  recognised_to timestamptz(3),
  next_at timestamptz(3),
  constraint recognition_schedule_open_check check (recognised >= 0 and drawn >= 0 and recognised + drawn <= amount)
);
create index recognition_schedule_next_at on accounting.recognition_schedule (next_at) where next_at is not null;
create index recognition_schedule_subscription_id on accounting.recognition_schedule (subscription_id) where subscription_id is not null;
create table accounting.recognition_end (subscription_id uuid primary key, ended_at timestamptz(3) not null)`;

const RULES = `
create table accounting.posting_rule (
  id uuid primary key,
  event_type text not null,
  version int not null,
  definition jsonb not null,
  created_at timestamptz(3) not null,
  constraint posting_rule_event_type_version_unique unique (event_type, version)
)`;

/** Tables that are only ever added to; nobody changes them, the owner of the database included, unless it takes the triggers away. */
const APPEND_ONLY = [
  'ledger_transaction',
  'ledger_entry',
  'pending_resolution',
  'chain_leaf',
  'chain_block',
  'chain_head',
  'chain_key',
  'posting_rule',
];

const immutable = (table: string): string[] => [
  `revoke update, delete, truncate on accounting.${table} from ${ROLE}`,
  `create trigger ${table}_immutable before update or delete or truncate on accounting.${table}
     for each statement execute function accounting.refuse_change()`,
];

const REFUSE = `
create function accounting.refuse_change() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = '42501';
end $$`;

/** Judged at the commit: every transaction balances in each currency, and has 2 to 64 entries. */
const BALANCED = `
create function accounting.require_balance() returns trigger language plpgsql set search_path = pg_catalog as $$
declare v_lines int; v_unbalanced int;
begin
  select sum(lines), count(*) filter (where net <> 0) into v_lines, v_unbalanced from (
    select count(*) as lines, sum(case e.direction when 'debit' then e.amount else - e.amount end) as net
    from accounting.ledger_entry e where e.transaction_id = new.id group by e.currency) by_currency;
  if coalesce(v_lines, 0) not between 2 and 64 or v_unbalanced > 0 then
    raise exception 'transaction % is not balanced', new.id using errcode = '23514';
  end if;
  return null;
end $$;
create constraint trigger ledger_transaction_balanced after insert on accounting.ledger_transaction
  deferrable initially deferred for each row execute function accounting.require_balance();
create function accounting.require_own_transaction() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  if exists (select 1 from added e left join accounting.ledger_transaction t on t.id = e.transaction_id
    where t.xid is distinct from pg_current_xact_id()) then
    raise exception 'entries are added with their transaction only' using errcode = '23514';
  end if;
  return null;
end $$;
create trigger ledger_entry_own_transaction after insert on accounting.ledger_entry
  referencing new table as added for each statement execute function accounting.require_own_transaction()`;

/**
 * First write of every posting: the transaction gets its xid and its time in one critical section, so that \`posted_at\` never decreases in
 * the sealer's order, whatever the clocks of several processes show. Nothing is held to the commit but a share of the periods' lock.
 */
const BEGIN = `
create sequence accounting.posting_clock minvalue 0 start 0;
create function accounting.begin_posting(p_now timestamptz, out posted_ms bigint, out closed_ms bigint)
language plpgsql security definer set search_path = pg_catalog as $$
declare v_lock bigint := hashtextextended('accounting.posting_clock', 5);
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('accounting.periods', 5));
  perform pg_advisory_lock(v_lock);
  begin
    perform pg_current_xact_id();
    posted_ms := (extract(epoch from p_now) * 1000)::bigint;
    if posted_ms > (select c.last_value from accounting.posting_clock c) then
      perform setval('accounting.posting_clock', posted_ms);
    else
      posted_ms := (select c.last_value from accounting.posting_clock c);
    end if;
    perform pg_advisory_unlock(v_lock);
  exception when others or query_canceled then
    perform pg_advisory_unlock(v_lock);
    raise;
  end;
  closed_ms := (select (extract(epoch from max(p.ends_at)) * 1000)::bigint from accounting.accounting_period p where p.status = 'closed');
end $$;
revoke all on function accounting.begin_posting(timestamptz) from public;
grant execute on function accounting.begin_posting(timestamptz) to ${ROLE}`;

/** Left out: user ids, which stand in the codes of wallets too, and metadata. Source: accounting 2. */
const SAFE_VIEWS = `
create view accounting.ledger_account_safe as
  select id, regexp_replace(code, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '*') as code, type, normal_side, currency, status, floor,
    posted_debits, posted_credits, pending_debits, pending_credits, entry_count, created_at from accounting.ledger_account;
create view accounting.ledger_transaction_safe as
  select id, kind, source_service, source_type, rule_version, effective_at, posted_at, expires_at, pending_id, reverses, content_hash
  from accounting.ledger_transaction`;

/** Why a safe view leaves a column out. Source: platform, rule 11. */
const MARKS: Readonly<Record<string, 'free_text' | 'personal'>> = {
  'ledger_account.name': 'free_text',
  'ledger_account.user_id': 'personal',
  'ledger_transaction.user_id': 'personal',
  'ledger_transaction.metadata': 'personal',
  'ledger_transaction.source_id': 'personal',
  'ledger_transaction.description': 'free_text',
};

const TABLES = [ACCOUNTS, TRANSACTIONS, CHAIN, PERIODS, RECOGNITION, RULES];

export class Ledger extends Migration {
  override up(): void {
    const views = ['ledger_account_safe', 'ledger_transaction_safe'].flatMap(view => grantSafeView('accounting', view));
    const marks = Object.entries(MARKS).map(([column, mark]) => `comment on column accounting.${column} is 'class: ${mark}'`);
    const statements = [...houseTables('accounting'), ...TABLES, REFUSE, ...APPEND_ONLY.flatMap(immutable), BALANCED, BEGIN, SAFE_VIEWS];
    for (const statement of [...statements, ...views, ...marks]) this.addSql(statement);
  }
}
