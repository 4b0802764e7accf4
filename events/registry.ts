import { z } from 'zod';
import type { EventDefinition, UserRule } from './define.js';
import type { Sql } from './outbox.js';

/** JSON Schema 2020-12 of a whole envelope. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const EXAMPLE_ID = '0190b3a0-2222-7000-8000-000000000001';
const EXAMPLE_USER = '0190b3a0-0000-7000-8000-0000000000a1';
const EXAMPLE_TIME = '2026-11-20T09:30:00.123Z';

const UUID_SCHEMA = { type: 'string', format: 'uuid' };

const USER_SCHEMA: Record<UserRule, object> = {
  required: UUID_SCHEMA,
  optional: { anyOf: [UUID_SCHEMA, { type: 'null' }] },
  none: { type: 'null' },
};

/** A valid envelope of the type, made from its first example. */
export const exampleOf = (event: EventDefinition): Readonly<Record<string, unknown>> => ({
  id: EXAMPLE_ID,
  type: event.name,
  user_id: event.user === 'none' ? null : EXAMPLE_USER,
  occurred_at: EXAMPLE_TIME,
  data: event.examples[0],
});

/**
 * The envelope with this type's `data`. `client_id` is set per webhook delivery and absent on the bus.
 * @throws Error when the payload schema has no exact JSON Schema.
 */
export function jsonSchemaOf(event: EventDefinition): JsonSchema {
  const { $schema: _, ...data } = z.toJSONSchema(event.schema, { target: 'draft-2020-12', unrepresentable: 'throw' });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: event.name,
    description: event.when,
    type: 'object',
    additionalProperties: false,
    required: ['id', 'type', 'user_id', 'occurred_at', 'data'],
    properties: {
      id: { ...UUID_SCHEMA, description: 'UUIDv7; the dedupe key' },
      type: { const: event.name },
      user_id: USER_SCHEMA[event.user],
      client_id: { type: 'string', description: 'Set per webhook delivery' },
      occurred_at: { type: 'string', format: 'date-time' },
      data,
    },
    examples: [exampleOf(event)],
  };
}

const UPSERT = `
insert into events.event_type as t (name, owner, emitters, description, user_rule, scope, sensitive, revision, json_schema, example, deprecated_at, sunset_at, replaced_by)
select name, owner, emitters, description, user_rule, scope, sensitive, revision, json_schema, example, deprecated_at, sunset_at, replaced_by
from jsonb_to_recordset($1::jsonb) as r(name text, owner text, emitters text[], description text, user_rule text, scope text, sensitive boolean, revision smallint,
  json_schema jsonb, example jsonb, deprecated_at timestamptz, sunset_at timestamptz, replaced_by text)
on conflict (name) do update set owner = excluded.owner, emitters = excluded.emitters, description = excluded.description, user_rule = excluded.user_rule,
  scope = excluded.scope, sensitive = excluded.sensitive, revision = excluded.revision, json_schema = excluded.json_schema, example = excluded.example,
  deprecated_at = excluded.deprecated_at, sunset_at = excluded.sunset_at, replaced_by = excluded.replaced_by, updated_at = clock_timestamp()`;

/** What a revision promises; descriptions and examples may be improved without a new one. */
const CONFLICTS = `
select t.name, t.revision, r.revision as mine
from jsonb_to_recordset($1::jsonb) as r(name text, owner text, user_rule text, scope text, revision smallint, json_schema jsonb) join events.event_type t on t.name = r.name
where t.revision > r.revision or (t.revision = r.revision and (t.owner, t.user_rule, coalesce(t.scope, ''), t.json_schema - 'examples' - 'description')
  <> (r.owner, r.user_rule, coalesce(r.scope, ''), r.json_schema - 'examples' - 'description'))
order by t.name`;

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
  json_schema: jsonSchemaOf(event),
  example: exampleOf(event),
  deprecated_at: event.deprecated?.at ?? null,
  sunset_at: event.deprecated?.sunset ?? null,
  replaced_by: event.deprecated?.replacedBy ?? null,
});

/**
 * Writes the catalogue to `events.event_type`, as `platform_events`.
 * @throws Error when the database has a newer revision of a type, or another content of the same revision: old code must not run. Source: events 7, rule 5.
 */
export async function syncRegistry(sql: Sql, catalogue: ReadonlyMap<string, EventDefinition>): Promise<void> {
  const rows = JSON.stringify([...catalogue.values()].map(rowOf));
  const conflicts = await sql<{ name: string; revision: number; mine: number }>(CONFLICTS, [rows]);
  if (conflicts.length > 0) {
    const named = conflicts.map(({ name, revision, mine }) => `${name} (database ${revision}, code ${mine})`).join(', ');
    throw new Error(`the event registry does not agree with this code: ${named}`);
  }
  await sql(UPSERT, [rows]);
}
