import { z } from 'zod';
import type { EventDefinition, UserRule } from './define.js';
import { memo } from './memo.js';

export type JsonSchema = Readonly<Record<string, unknown>>;
export type Draft = 'draft-2020-12' | 'draft-07';

const EXAMPLE_ID = '0190b3a0-2222-7000-8000-000000000001';
const EXAMPLE_USER = '0190b3a0-2222-7000-8000-0000000000e1'; // nobody's
const EXAMPLE_TIME = '2026-11-20T09:30:00.123Z';

const UUID_SCHEMA = { type: 'string', format: 'uuid' };

const USER_SCHEMA: Record<UserRule, object> = {
  required: UUID_SCHEMA,
  optional: { anyOf: [UUID_SCHEMA, { type: 'null' }] },
  none: { type: 'null' },
};

/** For readers that take formats as remarks. zod's own patterns also know leap years, in 300 characters. */
const PATTERNS: Readonly<Record<string, string>> = {
  uuid: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  'date-time': '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  date: '^\\d{4}-\\d{2}-\\d{2}$',
};

/** A valid envelope of the type, made from one of its examples. */
export const exampleOf = (event: EventDefinition, data: unknown = event.examples[0]): Readonly<Record<string, unknown>> => ({
  id: EXAMPLE_ID,
  type: event.name,
  user_id: event.user === 'none' ? null : EXAMPLE_USER,
  occurred_at: EXAMPLE_TIME,
  data,
});

function payloadSchema(schema: z.ZodType, target: Draft): JsonSchema {
  const { $schema: _, ...data } = z.toJSONSchema(schema, {
    target,
    unrepresentable: 'throw',
    override: ({ jsonSchema }) => {
      const pattern = PATTERNS[jsonSchema.format ?? ''];
      if (pattern) jsonSchema.pattern = pattern;
    },
  });
  return data;
}

const current = memo((schema: z.ZodType) => payloadSchema(schema, 'draft-2020-12'));

/** The JSON Schema of a type's `data`. @throws Error when the payload schema has no exact JSON Schema. */
export const dataSchemaOf = ({ schema }: Pick<EventDefinition, 'schema'>, target: Draft = 'draft-2020-12'): JsonSchema =>
  target === 'draft-2020-12' ? current(schema) : payloadSchema(schema, target);

const URI: Record<Draft, string> = {
  'draft-2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
};

/**
 * The envelope with this type's `data`. `client_id` is set per webhook delivery and absent on the bus.
 * @throws Error when the payload schema has no exact JSON Schema.
 */
export const jsonSchemaOf = (event: EventDefinition, target: Draft = 'draft-2020-12'): JsonSchema => ({
  $schema: URI[target],
  title: event.name,
  description: event.when,
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type', 'user_id', 'occurred_at', 'data'],
  properties: {
    id: { ...UUID_SCHEMA, description: 'UUIDv7; the dedupe key' },
    type: { const: event.name },
    user_id: { ...USER_SCHEMA[event.user], ...(event.about && { description: sentence(event.about) }) },
    client_id: { type: 'string', description: 'Set per webhook delivery' },
    occurred_at: { type: 'string', format: 'date-time' },
    data: dataSchemaOf(event, target),
  },
  examples: event.examples.map(example => exampleOf(event, example)),
});

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;
