import type { EventDefinition } from './define.js';
import { conflictOf, fingerprintOf, revisionOf, type Revision } from './evolution.js';
import { exampleOf, jsonSchemaOf } from './json-schema.js';
import { memo } from './memo.js';
import type { Sql } from './outbox.js';

const UPSERT = `
insert into events.event_type as t (name, owner, emitters, description, user_rule, scope, sensitive, revision, json_schema, example, deprecated_at, sunset_at, replaced_by)
select name, owner, emitters, description, user_rule, scope, sensitive, revision, json_schema, example, deprecated_at, sunset_at, replaced_by
from jsonb_to_recordset($1::jsonb) as r(name text, owner text, emitters text[], description text, user_rule text, scope text, sensitive boolean, revision smallint,
  json_schema jsonb, example jsonb, deprecated_at timestamptz, sunset_at timestamptz, replaced_by text)
on conflict (name) do update set owner = excluded.owner, emitters = excluded.emitters, description = excluded.description, user_rule = excluded.user_rule,
  scope = excluded.scope, sensitive = excluded.sensitive, revision = excluded.revision, json_schema = excluded.json_schema, example = excluded.example,
  deprecated_at = excluded.deprecated_at, sunset_at = excluded.sunset_at, replaced_by = excluded.replaced_by, updated_at = clock_timestamp()`;

/** Every revision that ever ran here is kept, for who reads an old event. */
const REGISTER = `
insert into events.event_type_revision (name, revision, fingerprint, json_schema)
select name, revision, fingerprint, json_schema from jsonb_to_recordset($1::jsonb) as r(name text, revision smallint, fingerprint text, json_schema jsonb)
on conflict (name, revision) do nothing`;

const KNOWN = `select name, revision, owner, user_rule as "user", scope, json_schema #> '{properties,data}' as data from events.event_type`;

/** The registry row of a type. */
const rowOf = (event: EventDefinition): Readonly<Record<string, unknown>> => ({
  name: event.name,
  owner: event.owner,
  emitters: [event.owner, ...event.emitters.filter(slug => slug !== event.owner)],
  description: event.when,
  user_rule: event.user,
  scope: event.scope,
  sensitive: event.sensitive,
  revision: event.revision,
  fingerprint: fingerprintOf(revisionOf(event)),
  json_schema: jsonSchemaOf(event),
  example: exampleOf(event),
  deprecated_at: event.deprecated?.at ?? null,
  sunset_at: event.deprecated?.sunset ?? null,
  replaced_by: event.deprecated?.replacedBy ?? null,
});

/** The rows of a catalogue as JSON; a catalogue is made once a process and never changes. */
const rowsOf = memo((catalogue: ReadonlyMap<string, EventDefinition>) => JSON.stringify([...catalogue.values()].map(rowOf)));
const revisions = memo(revisionOf);

/**
 * Writes the catalogue to `events.event_type`, and its revisions to `events.event_type_revision`, as `platform_events`.
 * @throws Error when the database has a newer revision of a type, another content of the same one, or one that this code's breaks: such code must not
 * run. Source: events 7, rule 5; catalogue 20.
 */
export async function syncRegistry(sql: Sql, catalogue: ReadonlyMap<string, EventDefinition>): Promise<void> {
  const known = await sql<Revision & { name: string }>(KNOWN);
  const conflicts = known.flatMap(({ name, ...revision }) => {
    const event = catalogue.get(name);
    const conflict = event && conflictOf(revision, revisions(event));
    return conflict ? [`${name}: ${conflict} (database ${revision.revision}, code ${event.revision})`] : [];
  });
  if (conflicts.length > 0) throw new Error(`the event registry does not agree with this code:\n- ${conflicts.sort().join('\n- ')}`);
  const rows = rowsOf(catalogue);
  await sql(UPSERT, [rows]);
  await sql(REGISTER, [rows]);
}
