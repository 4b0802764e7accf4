import { registerEnums } from '../../../runtime/schema/enums.js';

/** Values of an enum: lower case in rows and on the wire, upper case keys in GraphQL. */
type ValueOf<T> = T[keyof T];

export const WebhookSubscriptionStatus = { ACTIVE: 'active', PAUSED: 'paused', DISABLED: 'disabled' } as const;
export type WebhookSubscriptionStatus = ValueOf<typeof WebhookSubscriptionStatus>;

export const WebhookDisabledReason = {
  FAILING: 'failing',
  GONE: 'gone',
  CLIENT_INACTIVE: 'client_inactive',
  SCOPE_REMOVED: 'scope_removed',
  ADMIN: 'admin',
} as const;
export type WebhookDisabledReason = ValueOf<typeof WebhookDisabledReason>;

export const WebhookSecretStatus = { CURRENT: 'current', NEXT: 'next', PREVIOUS: 'previous' } as const;
export type WebhookSecretStatus = ValueOf<typeof WebhookSecretStatus>;

export const WebhookCircuitState = { CLOSED: 'closed', OPEN: 'open', HALF_OPEN: 'half_open' } as const;
export type WebhookCircuitState = ValueOf<typeof WebhookCircuitState>;

export const WebhookDeliveryStatus = {
  PENDING: 'pending',
  RETRYING: 'retrying',
  DELIVERED: 'delivered',
  DEAD_LETTERED: 'dead_lettered',
  CANCELLED: 'cancelled',
} as const;
export type WebhookDeliveryStatus = ValueOf<typeof WebhookDeliveryStatus>;

export const WebhookWait = {
  READY: 'ready',
  HEAD_OF_LINE: 'head_of_line',
  PAUSED: 'paused',
  CIRCUIT_OPEN: 'circuit_open',
  RATE_LIMIT: 'rate_limit',
} as const;
export type WebhookWait = ValueOf<typeof WebhookWait>;

export const WebhookDeadLetterReason = {
  RETRIES_EXHAUSTED: 'retries_exhausted',
  SUBSCRIPTION_DISABLED: 'subscription_disabled',
  BACKLOG_OVERFLOW: 'backlog_overflow',
} as const;
export type WebhookDeadLetterReason = ValueOf<typeof WebhookDeadLetterReason>;

export const WebhookCancelReason = {
  GRANT_REVOKED: 'grant_revoked',
  FILTER_CHANGED: 'filter_changed',
  SUBSCRIPTION_DELETED: 'subscription_deleted',
  USER_ERASED: 'user_erased',
  CLIENT_REMOVED: 'client_removed',
  DISCARDED: 'discarded',
} as const;
export type WebhookCancelReason = ValueOf<typeof WebhookCancelReason>;

export const WebhookAttemptError = {
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
} as const;
export type WebhookAttemptError = ValueOf<typeof WebhookAttemptError>;

export const WebhookAttemptTrigger = { SCHEDULE: 'schedule', RETRY_NOW: 'retry_now', REPLAY: 'replay', TEST: 'test' } as const;
export type WebhookAttemptTrigger = ValueOf<typeof WebhookAttemptTrigger>;

export const WebhookReplayAction = {
  CREATED: 'created',
  RETRIED_NOW: 'retried_now',
  ALREADY_QUEUED: 'already_queued',
  REFUSED: 'refused',
} as const;
export type WebhookReplayAction = ValueOf<typeof WebhookReplayAction>;

export const WebhookReplayRefusal = {
  GRANT_INACTIVE: 'grant_inactive',
  SUBSCRIPTION_DISABLED: 'subscription_disabled',
  TYPE_NOT_IN_FILTER: 'type_not_in_filter',
} as const;
export type WebhookReplayRefusal = ValueOf<typeof WebhookReplayRefusal>;

export const WebhookSecretActivation = { IMMEDIATE: 'immediate', AFTER_OVERLAP: 'after_overlap' } as const;
export type WebhookSecretActivation = ValueOf<typeof WebhookSecretActivation>;

export const WebhookStatsWindow = { HOUR: 'hour', DAY: 'day', WEEK: 'week' } as const;
export type WebhookStatsWindow = ValueOf<typeof WebhookStatsWindow>;

export const WebhookNoticeKind = {
  FAILING_24H: 'failing_24h',
  FAILING_72H: 'failing_72h',
  DISABLED: 'disabled',
  BACKLOG: 'backlog',
  SECRET_EXPIRING: 'secret_expiring',
  SCOPE_REMOVED: 'scope_removed',
} as const;
export type WebhookNoticeKind = ValueOf<typeof WebhookNoticeKind>;

export const WebhookJobKind = { REPLAY_DEAD_LETTERS: 'replay_dead_letters', RECOVER: 'recover' } as const;
export type WebhookJobKind = ValueOf<typeof WebhookJobKind>;

export const WebhookJobStatus = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const;
export type WebhookJobStatus = ValueOf<typeof WebhookJobStatus>;

export const InboundReceiptStatus = { ACCEPTED: 'accepted', REPLAYED: 'replayed' } as const;
export type InboundReceiptStatus = ValueOf<typeof InboundReceiptStatus>;

export const InboundScheme = { BASE64_BODY: 'base64_body', HEX_TIMESTAMP_BODY: 'hex_timestamp_body' } as const;
export type InboundScheme = ValueOf<typeof InboundScheme>;

registerEnums(
  {
    WebhookSubscriptionStatus,
    WebhookDisabledReason,
    WebhookSecretStatus,
    WebhookCircuitState,
    WebhookDeliveryStatus,
    WebhookWait,
    WebhookDeadLetterReason,
    WebhookCancelReason,
    WebhookAttemptError,
    WebhookAttemptTrigger,
    WebhookReplayAction,
    WebhookReplayRefusal,
    WebhookSecretActivation,
    WebhookStatsWindow,
    WebhookNoticeKind,
    WebhookJobKind,
    WebhookJobStatus,
    InboundReceiptStatus,
    InboundScheme,
  },
  {
    WebhookSubscriptionStatus: 'Active: events go out. Paused: they are held. Disabled: none are made.',
    WebhookDisabledReason: 'Why a subscription is disabled.',
    WebhookSecretStatus: 'Place of a signing secret in a rotation.',
    WebhookCircuitState: 'Open: first attempts of other users wait; scheduled retries serve as probes.',
    WebhookDeliveryStatus: 'State of one event for one subscription.',
    WebhookWait: 'What a pending delivery waits for.',
    WebhookDeadLetterReason: 'Why a delivery ended in the dead letters.',
    WebhookCancelReason: 'Why a delivery was cancelled.',
    WebhookAttemptError: 'How an attempt failed.',
    WebhookAttemptTrigger: 'What made an attempt happen.',
    WebhookReplayAction: 'What a replay did for one subscription.',
    WebhookReplayRefusal: 'Why an event was not sent again.',
    WebhookSecretActivation: 'When a new secret signs the main header: at once, or only when the overlap ends.',
    WebhookStatsWindow: 'How far back statistics look.',
    WebhookNoticeKind: 'What the owner of a subscription was told.',
    WebhookJobKind: 'Dead letters again, or events that were missed.',
    WebhookJobStatus: 'State of a bulk replay or recovery.',
    InboundReceiptStatus: 'Accepted: emitted once. Replayed: emitted again on purpose.',
    InboundScheme: 'How a vendor signs: base64 HMAC-SHA256 of the raw body, or hex HMAC-SHA256 of timestamp, a dot and the body.',
  },
);
