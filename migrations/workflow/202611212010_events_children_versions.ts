import { Migration } from '@mikro-orm/migrations';

/** `cause_id`: the event that started a run. `waiting_topic`: of the only wait that a word may end. */
const RUNS = `
alter table workflow.workflow_run_meta
  add column deadline_at timestamptz(3),
  add column cause_id uuid,
  add column waiting_topic text,
  add column version_alarmed boolean not null default false;
create index workflow_run_meta_running on workflow.workflow_run_meta (definition_key) where status = 'running';
create index workflow_run_meta_deadline_at on workflow.workflow_run_meta (deadline_at) where status in ('pending', 'running', 'waiting');
create index workflow_run_meta_parent_id on workflow.workflow_run_meta (parent_id) where parent_id is not null;
create index workflow_run_meta_executor on workflow.workflow_run_meta (executor) where status in ('running', 'waiting');
create index workflow_run_meta_tick on workflow.workflow_run_meta ((output->>'tick_id')) where definition_key = 'intelligence_loop';
alter table workflow.executor add column stopped boolean not null default false;
alter table workflow.workflow_task add column permission text`;

/** Of words for one wait the first is heard, whoever says the second. */
const WORDS = `
delete from workflow.message m using workflow.message o where o.engine_id = m.engine_id and o.topic = m.topic and o.id < m.id;
create unique index message_topic on workflow.message (engine_id, topic);
create index timer_engine_id on workflow.timer (engine_id, topic);
create table workflow.heard_event (
  event_id uuid not null,
  name text not null,
  key text not null,
  user_id uuid,
  payload jsonb not null,
  heard_at timestamptz(3) not null,
  constraint heard_event_pkey primary key (event_id, key)
);
create index heard_event_name_key on workflow.heard_event (name, key, heard_at);
create index heard_event_heard_at on workflow.heard_event (heard_at);
create index heard_event_user_id on workflow.heard_event (user_id) where user_id is not null`;

export class EventsChildrenVersions extends Migration {
  override up(): void {
    for (const statement of [RUNS, WORDS]) this.addSql(statement);
  }
}
