import { registerEnumType } from 'type-graphql';

/** A word list with the name that it has in GraphQL: keys there, lower-case values in rows and on the wire. */
function words<const T extends Readonly<Record<string, string>>>(name: string, list: T, description: string): T {
  registerEnumType(list, { name, description });
  return list;
}

type Word<T> = T[keyof T];

/** Who may read what this service shows: bus operators. Source: events 4, callers. */
export const READERS = { service: 'admin:events', staff: 'admin:events:read' } as const;
/** Who may work on it. */
export const OPERATORS = { service: 'admin:events', staff: 'admin:events:operate' } as const;

/** Bus operators, and whom an event concerns. */
export const CONCERNED = { ...READERS, user: 'read:account' } as const;
/** Who may publish: jobs and scripts, with the admin scope of the owner of the type besides. */
export const PUBLISHERS = { service: 'admin:events' } as const;

/** Who delivers events outside and catches up by the log. */
export const DELIVERERS = { internal: 'webhooks' } as const;

export const EventUserRule = words(
  'EventUserRule',
  { REQUIRED: 'required', OPTIONAL: 'optional', NONE: 'none' },
  'Whether an event of the type concerns a user.',
);
export type EventUserRule = Word<typeof EventUserRule>;

export const ConsumerStatus = words(
  'ConsumerStatus',
  { ACTIVE: 'active', PAUSED: 'paused', DETACHED: 'detached' },
  'Active: events are handled. Paused: they wait. Detached: they are not even queued.',
);
export type ConsumerStatus = Word<typeof ConsumerStatus>;

export const DeadLetterStatus = words(
  'DeadLetterStatus',
  { RETRYING: 'retrying', DEAD: 'dead', PARKED: 'parked', RESOLVED: 'resolved', DISCARDED: 'discarded' },
  'Retrying: it has a time. Dead: it waits for an operator. Parked: it waits behind another of its key.',
);
export type DeadLetterStatus = Word<typeof DeadLetterStatus>;

export const DeadLetterReason = words(
  'DeadLetterReason',
  {
    SCHEMA_INVALID: 'schema_invalid',
    HANDLER_ERROR: 'handler_error',
    PERMANENT: 'permanent',
    CRASH_LOOP: 'crash_loop',
    TOO_OLD: 'too_old',
    UNKNOWN_TYPE: 'unknown_type',
    BEHIND_ANOTHER: 'behind_another',
  },
  'Why a consumer could not handle an event.',
);
export type DeadLetterReason = Word<typeof DeadLetterReason>;

export const EventTransport = words('EventTransport', { RABBITMQ: 'rabbitmq', EMBEDDED: 'embedded' }, 'How events reach consumers.');
export type EventTransport = Word<typeof EventTransport>;

export const PlatformEventOrder = words(
  'PlatformEventOrder',
  { NEWEST: 'newest', LOG: 'log' },
  'Newest first; or in the order in which the relay published, per user by sequence: to follow the log to its end and beyond.',
);
export type PlatformEventOrder = Word<typeof PlatformEventOrder>;

export const HandlingStatus = words(
  'HandlingStatus',
  {
    PENDING: 'pending',
    HANDLED: 'handled',
    RETRYING: 'retrying',
    DEAD: 'dead',
    PARKED: 'parked',
    NOT_SUBSCRIBED: 'not_subscribed',
    UNKNOWN: 'unknown',
  },
  'What became of an event at a consumer. Not subscribed: it was relayed before the consumer began. Unknown: older than what consumers remember.',
);
export type HandlingStatus = Word<typeof HandlingStatus>;

export const AsyncApiView = words('AsyncApiView', { BUS: 'bus', WEBHOOKS: 'webhooks' }, 'The whole bus, or what outside subscribers get.');
export type AsyncApiView = Word<typeof AsyncApiView>;

export const EventReplayMode = words(
  'EventReplayMode',
  { DEDUPE: 'dedupe', RERUN: 'rerun' },
  'Dedupe: what was handled is dropped. Rerun: handlers that declare it run again, once per replay.',
);
export type EventReplayMode = Word<typeof EventReplayMode>;

export const EventReplayStatus = words(
  'EventReplayStatus',
  { PENDING: 'pending', RUNNING: 'running', COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled' },
  'Completed: all is sent; the consumer may still be handling it. Cancelled: what was sent stays sent.',
);
export type EventReplayStatus = Word<typeof EventReplayStatus>;
