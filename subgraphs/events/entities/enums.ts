import { registerEnums } from '../../../runtime/schema/enums.js';

/** Values of an enum: lower case in rows and on the wire, upper case keys in GraphQL. */
type ValueOf<T> = T[keyof T];

/** Who may read what this service shows: bus operators. Source: events 4, callers. */
export const READERS = { service: 'admin:events', staff: 'admin:events:read' } as const;
/** Who may work on it. */
export const OPERATORS = { service: 'admin:events', staff: 'admin:events:operate' } as const;
/** Whoever has worked on it reads what it has become. */
export const SHOWN = { service: 'admin:events', staff: 'admin:events:read|admin:events:operate' } as const;

/** Bus operators, and whom an event concerns. */
export const CONCERNED = { ...READERS, user: 'read:account' } as const;
/** Who may publish: jobs and scripts, with the admin scope of the owner of the type besides. */
export const PUBLISHERS = { service: 'admin:events' } as const;

/** Who delivers events outside and catches up by the log. */
export const DELIVERERS = { internal: 'webhooks' } as const;

export const EventUserRule = { REQUIRED: 'required', OPTIONAL: 'optional', NONE: 'none' } as const;
export type EventUserRule = ValueOf<typeof EventUserRule>;

export const ConsumerStatus = { ACTIVE: 'active', PAUSED: 'paused', DETACHED: 'detached' } as const;
export type ConsumerStatus = ValueOf<typeof ConsumerStatus>;

export const DeadLetterStatus = {
  RETRYING: 'retrying',
  DEAD: 'dead',
  PARKED: 'parked',
  RESOLVED: 'resolved',
  DISCARDED: 'discarded',
} as const;
export type DeadLetterStatus = ValueOf<typeof DeadLetterStatus>;

export const DeadLetterReason = {
  SCHEMA_INVALID: 'schema_invalid',
  HANDLER_ERROR: 'handler_error',
  PERMANENT: 'permanent',
  CRASH_LOOP: 'crash_loop',
  TOO_OLD: 'too_old',
  UNKNOWN_TYPE: 'unknown_type',
  BEHIND_ANOTHER: 'behind_another',
} as const;
export type DeadLetterReason = ValueOf<typeof DeadLetterReason>;

export const EventTransport = { RABBITMQ: 'rabbitmq', EMBEDDED: 'embedded' } as const;
export type EventTransport = ValueOf<typeof EventTransport>;

export const PlatformEventOrder = { NEWEST: 'newest', LOG: 'log' } as const;
export type PlatformEventOrder = ValueOf<typeof PlatformEventOrder>;

export const HandlingStatus = {
  PENDING: 'pending',
  HANDLED: 'handled',
  RETRYING: 'retrying',
  DEAD: 'dead',
  PARKED: 'parked',
  NOT_SUBSCRIBED: 'not_subscribed',
  UNKNOWN: 'unknown',
} as const;
export type HandlingStatus = ValueOf<typeof HandlingStatus>;

export const AsyncApiView = { BUS: 'bus', WEBHOOKS: 'webhooks' } as const;
export type AsyncApiView = ValueOf<typeof AsyncApiView>;

export const EventReplayMode = { DEDUPE: 'dedupe', RERUN: 'rerun' } as const;
export type EventReplayMode = ValueOf<typeof EventReplayMode>;

export const EventReplayStatus = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const;
export type EventReplayStatus = ValueOf<typeof EventReplayStatus>;

registerEnums(
  {
    EventUserRule,
    ConsumerStatus,
    DeadLetterStatus,
    DeadLetterReason,
    EventTransport,
    PlatformEventOrder,
    HandlingStatus,
    AsyncApiView,
    EventReplayMode,
    EventReplayStatus,
  },
  {
    EventUserRule: 'Whether an event of the type concerns a user.',
    ConsumerStatus: 'Active: events are handled. Paused: they wait. Detached: they are not even queued.',
    DeadLetterStatus: 'Retrying: it has a time. Dead: it waits for an operator. Parked: it waits behind another of its key.',
    DeadLetterReason: 'Why a consumer could not handle an event.',
    EventTransport: 'How events reach consumers.',
    PlatformEventOrder:
      'Newest first; or in the order in which the relay published, per user by sequence: to follow the log to its end and beyond.',
    HandlingStatus:
      'What became of an event at a consumer. Not subscribed: it was relayed before the consumer began. Unknown: older than what consumers remember.',
    AsyncApiView: 'The whole bus, or what outside subscribers get.',
    EventReplayMode: 'Dedupe: what was handled is dropped. Rerun: handlers that declare it run again, once per replay.',
    EventReplayStatus: 'Completed: all is sent; the consumer may still be handling it. Cancelled: what was sent stays sent.',
  },
);
