import { registerEnumType } from 'type-graphql';

/** A word list with the name that it has in GraphQL: keys there, lower-case values in rows and on the wire. */
function words<const T extends Readonly<Record<string, string>>>(name: string, list: T, description: string): T {
  registerEnumType(list, { name, description });
  return list;
}

type Word<T> = T[keyof T];

export const WebhookSubscriptionStatus = words(
  'WebhookSubscriptionStatus',
  { ACTIVE: 'active', PAUSED: 'paused', DISABLED: 'disabled' },
  'Active: events go out. Paused: they are held. Disabled: none are made.',
);
export type WebhookSubscriptionStatus = Word<typeof WebhookSubscriptionStatus>;

export const WebhookDisabledReason = words(
  'WebhookDisabledReason',
  { FAILING: 'failing', GONE: 'gone', CLIENT_INACTIVE: 'client_inactive', SCOPE_REMOVED: 'scope_removed', ADMIN: 'admin' },
  'Why a subscription is disabled.',
);
export type WebhookDisabledReason = Word<typeof WebhookDisabledReason>;

export const WebhookSecretStatus = words(
  'WebhookSecretStatus',
  { CURRENT: 'current', NEXT: 'next', PREVIOUS: 'previous' },
  'Place of a signing secret in a rotation.',
);
export type WebhookSecretStatus = Word<typeof WebhookSecretStatus>;

export const WebhookCircuitState = words(
  'WebhookCircuitState',
  { CLOSED: 'closed', OPEN: 'open', HALF_OPEN: 'half_open' },
  'Open: first attempts of other users wait; scheduled retries serve as probes.',
);
export type WebhookCircuitState = Word<typeof WebhookCircuitState>;

export const WebhookDeliveryStatus = words(
  'WebhookDeliveryStatus',
  { PENDING: 'pending', RETRYING: 'retrying', DELIVERED: 'delivered', DEAD_LETTERED: 'dead_lettered', CANCELLED: 'cancelled' },
  'State of one event for one subscription.',
);
export type WebhookDeliveryStatus = Word<typeof WebhookDeliveryStatus>;

export const WebhookWait = words(
  'WebhookWait',
  { READY: 'ready', HEAD_OF_LINE: 'head_of_line', PAUSED: 'paused', CIRCUIT_OPEN: 'circuit_open', RATE_LIMIT: 'rate_limit' },
  'What a pending delivery waits for.',
);
export type WebhookWait = Word<typeof WebhookWait>;

export const WebhookDeadLetterReason = words(
  'WebhookDeadLetterReason',
  { RETRIES_EXHAUSTED: 'retries_exhausted', SUBSCRIPTION_DISABLED: 'subscription_disabled', BACKLOG_OVERFLOW: 'backlog_overflow' },
  'Why a delivery ended in the dead letters.',
);
export type WebhookDeadLetterReason = Word<typeof WebhookDeadLetterReason>;

export const WebhookCancelReason = words(
  'WebhookCancelReason',
  {
    GRANT_REVOKED: 'grant_revoked',
    FILTER_CHANGED: 'filter_changed',
    SUBSCRIPTION_DELETED: 'subscription_deleted',
    USER_ERASED: 'user_erased',
    CLIENT_REMOVED: 'client_removed',
    DISCARDED: 'discarded',
  },
  'Why a delivery was cancelled.',
);
export type WebhookCancelReason = Word<typeof WebhookCancelReason>;

export const WebhookAttemptError = words(
  'WebhookAttemptError',
  {
    DNS_FAILURE: 'dns_failure',
    BLOCKED_ADDRESS: 'blocked_address',
    CONNECT_TIMEOUT: 'connect_timeout',
    CONNECT_REFUSED: 'connect_refused',
    TLS_ERROR: 'tls_error',
    TIMEOUT: 'timeout',
    CONNECTION_RESET: 'connection_reset',
    REDIRECT: 'redirect',
    HTTP_STATUS: 'http_status',
    PROTOCOL_ERROR: 'protocol_error',
  },
  'How an attempt failed.',
);
export type WebhookAttemptError = Word<typeof WebhookAttemptError>;

export const WebhookAttemptTrigger = words(
  'WebhookAttemptTrigger',
  { SCHEDULE: 'schedule', RETRY_NOW: 'retry_now', REPLAY: 'replay', TEST: 'test' },
  'What made an attempt happen.',
);
export type WebhookAttemptTrigger = Word<typeof WebhookAttemptTrigger>;

export const WebhookReplayAction = words(
  'WebhookReplayAction',
  { CREATED: 'created', RETRIED_NOW: 'retried_now', ALREADY_QUEUED: 'already_queued', REFUSED: 'refused' },
  'What a replay did for one subscription.',
);
export type WebhookReplayAction = Word<typeof WebhookReplayAction>;

export const WebhookReplayRefusal = words(
  'WebhookReplayRefusal',
  { GRANT_INACTIVE: 'grant_inactive', SUBSCRIPTION_DISABLED: 'subscription_disabled', TYPE_NOT_IN_FILTER: 'type_not_in_filter' },
  'Why an event was not sent again.',
);
export type WebhookReplayRefusal = Word<typeof WebhookReplayRefusal>;

export const WebhookSecretActivation = words(
  'WebhookSecretActivation',
  { IMMEDIATE: 'immediate', AFTER_OVERLAP: 'after_overlap' },
  'When a new secret signs the main header: at once, or only when the overlap ends.',
);
export type WebhookSecretActivation = Word<typeof WebhookSecretActivation>;

export const WebhookStatsWindow = words('WebhookStatsWindow', { HOUR: 'hour', DAY: 'day', WEEK: 'week' }, 'How far back statistics look.');
export type WebhookStatsWindow = Word<typeof WebhookStatsWindow>;

export const WebhookNoticeKind = words(
  'WebhookNoticeKind',
  {
    FAILING_24H: 'failing_24h',
    FAILING_72H: 'failing_72h',
    DISABLED: 'disabled',
    BACKLOG: 'backlog',
    SECRET_EXPIRING: 'secret_expiring',
    SCOPE_REMOVED: 'scope_removed',
  },
  'What the owner of a subscription was told.',
);
export type WebhookNoticeKind = Word<typeof WebhookNoticeKind>;

export const WebhookJobKind = words(
  'WebhookJobKind',
  { REPLAY_DEAD_LETTERS: 'replay_dead_letters', RECOVER: 'recover' },
  'Dead letters again, or events that were missed.',
);
export type WebhookJobKind = Word<typeof WebhookJobKind>;

export const WebhookJobStatus = words(
  'WebhookJobStatus',
  { PENDING: 'pending', RUNNING: 'running', COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled' },
  'State of a bulk replay or recovery.',
);
export type WebhookJobStatus = Word<typeof WebhookJobStatus>;

export const InboundReceiptStatus = words(
  'InboundReceiptStatus',
  { ACCEPTED: 'accepted', REPLAYED: 'replayed' },
  'Accepted: emitted once. Replayed: emitted again on purpose.',
);
export type InboundReceiptStatus = Word<typeof InboundReceiptStatus>;

export const InboundScheme = words(
  'InboundScheme',
  { BASE64_BODY: 'base64_body', HEX_TIMESTAMP_BODY: 'hex_timestamp_body' },
  'How a vendor signs: base64 HMAC-SHA256 of the raw body, or hex HMAC-SHA256 of timestamp, a dot and the body.',
);
export type InboundScheme = Word<typeof InboundScheme>;
