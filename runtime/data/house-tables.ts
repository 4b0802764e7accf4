import { roleOf, schemaOf, type Slug } from '../../events/slugs.js';

/** Tables that a service's application role may only add to. */
const APPEND_ONLY = ['audit_log'];

const INBOX_DAYS_PER_PARTITION = 7;

/**
 * First statements of a service's first migration: schema, grants and the house tables `audit_log`, `inbox`,
 * `idempotency_key`, `schedule_slot` and `test_clock`, which have the same names in every schema. Source: architecture 3.
 */
export function houseTables(slug: Slug): string[] {
  const schema = schemaOf(slug);
  const role = roleOf(slug);
  return [
    `create schema if not exists ${schema}`,
    `grant usage on schema ${schema} to ${role}`,
    `alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${role}`,
    `alter default privileges in schema ${schema} grant usage, select on sequences to ${role}`,
    ...auditLog(schema),
    ...inbox(schema, role),
    ...idempotencyKeys(schema),
    `create table ${schema}.schedule_slot (name text not null, slot timestamptz(3) not null, claimed_at timestamptz(3) not null, finished_at timestamptz(3), primary key (name, slot))`,
    `create table ${schema}.test_clock (only_row boolean primary key default true check (only_row), now timestamptz(3) not null)`,
    ...APPEND_ONLY.map(table => `revoke update, delete, truncate on ${schema}.${table} from ${role}`),
  ];
}

const auditLog = (schema: string): string[] => [
  `create table ${schema}.audit_log (
    id uuid primary key, actor jsonb not null, action text not null, target text, at timestamptz(3) not null, request_id text, details jsonb not null default '{}')`,
  `create index audit_log_target_at on ${schema}.audit_log (target, at)`,
];

/** Partitioned by UUIDv7, that is by time; {@link https://www.rfc-editor.org/rfc/rfc9562 RFC 9562} puts 48 bits of Unix milliseconds first. */
const inbox = (schema: string, role: string): string[] => [
  `create table ${schema}.inbox (
    consumer text not null, event_id uuid not null, replay_id uuid not null default '00000000-0000-0000-0000-000000000000',
    processed_at timestamptz(3) not null default clock_timestamp(), primary key (consumer, event_id, replay_id)) partition by range (event_id)`,
  `create table ${schema}.inbox_default partition of ${schema}.inbox default`,
  rollPartitions(schema),
  `revoke all on function ${schema}.roll_partitions(int) from public`,
  `grant execute on function ${schema}.roll_partitions(int) to ${role}`,
  `select ${schema}.roll_partitions(35)`,
];

/** Makes the inbox partitions of this and the next week and drops those older than `keep_days`; run at start and hourly. */
const rollPartitions = (schema: string): string => `
create function ${schema}.roll_partitions(keep_days int) returns void language plpgsql security definer set search_path = pg_catalog as $roll$
declare
  week bigint := ${INBOX_DAYS_PER_PARTITION}::bigint * 86400000;
  this_week bigint := floor(extract(epoch from clock_timestamp()) * 1000 / week);
  edge bigint; part text; lower_id uuid; upper_id uuid;
begin
  for edge in this_week .. this_week + 1 loop
    part := 'inbox_w' || edge;
    continue when to_regclass('${schema}.' || part) is not null;
    lower_id := (lpad(to_hex(edge * week), 12, '0') || repeat('0', 20))::uuid;
    upper_id := (lpad(to_hex((edge + 1) * week), 12, '0') || repeat('0', 20))::uuid;
    begin
      execute format('create table ${schema}.%I partition of ${schema}.inbox for values from (%L) to (%L)', part, lower_id, upper_id);
    exception when check_violation then null; -- rows of that week stand in the default partition already, where they are as well kept
    end;
  end loop;
  for part in select c.relname from pg_class c join pg_inherits i on i.inhrelid = c.oid
    where i.inhparent = '${schema}.inbox'::regclass and c.relname ~ '^inbox_w[0-9]+$' loop
    if (substring(part from 8)::bigint + 1) * week < extract(epoch from clock_timestamp()) * 1000 - keep_days::bigint * 86400000 then
      execute format('drop table ${schema}.%I', part);
    end if;
  end loop;
end $roll$`;

const idempotencyKeys = (schema: string): string[] => [
  `create table ${schema}.idempotency_key (
    caller text not null, field text not null, path text not null, key text not null, hash bytea not null, status int,
    entity_type text, entity_id text, answer bytea, created_at timestamptz(3) not null, primary key (caller, field, path, key))`,
  ...leasedKeys(schema),
  `create index idempotency_key_created_at on ${schema}.idempotency_key (created_at)`,
];

/** A key of an operation in two phases has its intent from transaction 1 on, and a lease until its outcome is stored. */
const leasedKeys = (schema: string): string[] => [
  `alter table ${schema}.idempotency_key add column if not exists intent_id text, add column if not exists leased_until timestamptz(3)`,
];

/** Brings the house tables of a schema to today's columns, where its first migration was made before them; safe to repeat. */
export const leaseIdempotencyKeys = (slug: Slug): string[] => leasedKeys(schemaOf(slug));

/**
 * Grants `platform_ro` a safe view: the only thing that the read-only role sees. The view reads its tables as `platform_views`,
 * a role that nobody can log in as and that may only read. Source: conventions 10, platform rule 11.
 */
export function grantSafeView(slug: Slug, view: string): string[] {
  const schema = schemaOf(slug);
  return [
    `alter view ${schema}.${view} set (security_barrier = true)`,
    `grant usage on schema ${schema} to platform_ro`,
    `grant select on ${schema}.${view} to platform_ro`,
    `grant select on all tables in schema ${schema} to platform_views`,
    `grant usage, create on schema ${schema} to platform_views`, // a new owner must be able to create in the schema
    `alter view ${schema}.${view} owner to platform_views`,
    `revoke create on schema ${schema} from platform_views`,
  ];
}
