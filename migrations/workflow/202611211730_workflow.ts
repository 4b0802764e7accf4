import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

interface EngineMigrations {
  allMigrations(schema: string, options: { useListenNotify: boolean; isCockroach: boolean }): readonly { pg?: readonly string[] }[];
}

const require = createRequire(import.meta.url);

/** The engine's own migrations, whose runner would need the rights of an owner; the package does not export them. */
const { allMigrations } = require(
  join(dirname(require.resolve('@dbos-inc/dbos-sdk')), 'sysdb_migrations/internal/migrations.js'),
) as EngineMigrations;

/** Nobody uses an empty schema, so its indexes need no concurrency, which a transaction could not have. */
const inOurTransaction = (statement: string): string => statement.replace(/\bconcurrently\b/gi, '');

/**
 * The engine's tables in the schema `dbos`, made by the owner of the database; the role of workflow uses them and changes none. The
 * engine only verifies them at its start (`runMigrations: false`), so a newer one refuses to run until a migration of ours has come.
 */
function engine(): string[] {
  const migrations = allMigrations('dbos', { useListenNotify: true, isCockroach: false });
  return [
    ...migrations.flatMap(one => (one.pg ?? []).map(inOurTransaction)),
    `insert into dbos.dbos_migrations (version) values (${migrations.length})`,
    'grant usage on schema dbos to platform_workflow',
    'grant select, insert, update, delete on all tables in schema dbos to platform_workflow',
    'grant usage, select on all sequences in schema dbos to platform_workflow',
    'grant execute on all functions in schema dbos to platform_workflow',
  ];
}

const DEFINITIONS = `
create table workflow.workflow_definition (
  key text primary key,
  version int not null,
  enabled boolean not null default true,
  registered_at timestamptz(3) not null,
  last_success_at timestamptz(3),
  alarmed_at timestamptz(3)
);
create table workflow.workflow_trigger (
  definition_key text not null,
  cron text not null,
  time_zone text not null,
  next_at timestamptz(3),
  last_at timestamptz(3),
  misses int not null default 0,
  constraint workflow_trigger_pkey primary key (definition_key, cron)
)`;

/** `engine_id` is the engine's name of a run: a run that was resumed is a fork of its former one. */
const RUNS = `
create table workflow.workflow_run_meta (
  id uuid primary key,
  engine_id text not null constraint workflow_run_meta_engine_id_unique unique,
  engine_no int not null default 0,
  engine_from jsonb,
  definition_key text not null,
  definition_version int not null,
  key text not null,
  status text not null constraint workflow_run_meta_status_check check (status in ('pending', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')),
  trigger text not null constraint workflow_run_meta_trigger_check check (trigger in ('schedule', 'event', 'manual')),
  user_id uuid,
  input jsonb,
  output jsonb,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  waiting_kind text,
  waiting_name text,
  waiting_until timestamptz(3),
  attempts int not null default 0,
  parent_id uuid,
  forked_from uuid,
  error_code text,
  executor text,
  cancel_pending boolean not null default false
);
create index workflow_run_meta_created_at_id on workflow.workflow_run_meta (created_at, id);
create index workflow_run_meta_definition_key on workflow.workflow_run_meta (definition_key, created_at);
create index workflow_run_meta_user_id on workflow.workflow_run_meta (user_id, created_at) where user_id is not null;
create index workflow_run_meta_to_do on workflow.workflow_run_meta (created_at) where status = 'pending' or cancel_pending;

create table workflow.workflow_step (
  run_id uuid not null constraint workflow_step_run_id_foreign references workflow.workflow_run_meta (id) on delete cascade,
  idx int not null,
  name text not null,
  status text not null constraint workflow_step_status_check check (status in ('running', 'succeeded', 'failed')),
  attempts int not null,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3),
  output_digest text,
  error_code text,
  child_run_id uuid,
  function_id int not null,
  constraint workflow_step_pkey primary key (run_id, idx)
);

create table workflow.compensation (
  run_id uuid not null constraint compensation_run_id_foreign references workflow.workflow_run_meta (id) on delete cascade,
  idx int not null,
  name text not null,
  args jsonb not null,
  done_at timestamptz(3),
  constraint compensation_pkey primary key (run_id, idx)
)`;

/** What a run waits for: a time, a word from outside, a person. `message` is what is told to the engine, once. */
const WAITS = `
create table workflow.timer (
  id uuid primary key,
  engine_id text not null,
  topic text not null,
  due_at timestamptz(3) not null,
  released_at timestamptz(3)
);
create index timer_due_at on workflow.timer (due_at) where released_at is null;

create table workflow.wait (
  engine_id text not null,
  topic text not null,
  run_id uuid not null,
  name text not null,
  key text,
  constraint wait_pkey primary key (engine_id, topic)
);
create index wait_name_key on workflow.wait (name, key);

create table workflow.message (
  id uuid primary key,
  engine_id text not null,
  topic text not null,
  payload jsonb not null,
  idempotency_key text,
  created_at timestamptz(3) not null,
  sent_at timestamptz(3),
  constraint message_idempotency_key_unique unique (engine_id, idempotency_key)
);
create index message_unsent on workflow.message (created_at) where sent_at is null;

create table workflow.workflow_task (
  id uuid primary key,
  run_id uuid not null constraint workflow_task_run_id_foreign references workflow.workflow_run_meta (id) on delete cascade,
  engine_id text not null,
  title text not null,
  kind text not null,
  assignee_role text,
  assignee_id uuid,
  due_at timestamptz(3),
  status text not null constraint workflow_task_status_check check (status in ('open', 'claimed', 'completed', 'expired', 'cancelled')),
  form jsonb not null,
  result jsonb,
  claimed_by uuid,
  completed_by text,
  created_at timestamptz(3) not null,
  version int not null default 1
);
create index workflow_task_created_at_id on workflow.workflow_task (created_at, id);
create index workflow_task_due_at on workflow.workflow_task (due_at) where status in ('open', 'claimed');

create table workflow.executor (
  id text primary key,
  lease_until timestamptz(3) not null,
  code_version text not null
)`;

/** Left out: what a run was told and said, and whose it is. Source: workflow 2. */
const SAFE_VIEW = `
create view workflow.workflow_run_safe as
  select id, definition_key, definition_version, key, status, trigger, created_at, started_at, finished_at, waiting_kind, waiting_until, attempts,
    parent_id, forked_from, error_code from workflow.workflow_run_meta`;

export class Workflow extends Migration {
  override up(): void {
    const own = [DEFINITIONS, RUNS, WAITS, SAFE_VIEW, ...grantSafeView('workflow', 'workflow_run_safe')];
    for (const statement of [...houseTables('workflow'), ...engine(), ...own]) this.addSql(statement);
  }
}
