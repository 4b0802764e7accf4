import { get, post, type Route, type RouteTable } from '../route.js';

const TYPE = `name owner emitters description userRule scope sensitive revision jsonSchema example deprecatedAt sunsetAt replacedBy
  lastEmittedAt count24h`;
const CONSUMER = `name service types partitions generation status pausedReason depth lagSeconds oldestUnhandledAt blockedKeys deadLetters
  position lastSeenAt version`;
const LETTER = `id consumer: consumerName eventId orderKey sequence type status reason errorClass errorMessage attempts nextAttemptAt
  firstFailedAt lastFailedAt resolvedBy resolvedAt`;
const EVENT = 'id type userId subject occurredAt sequence source brandId publishedAt requestId actor traceId causationId data erasedAt';
const HANDLING = 'handling { consumer: consumerName status at }';
/** Without `data`: a tree has up to 200 of them. */
const TRACED = 'id type userId subject occurredAt sequence source publishedAt requestId actor traceId causationId erasedAt';
const TRACE = `causes { ${TRACED} ${HANDLING} } nodes { depth event { ${TRACED} ${HANDLING} } } truncated`;
const PUBLISHED = 'id type userId subject occurredAt sequence source data';
const BUS = `transport connected roundtripP50Ms roundtripP95Ms unpublished oldestUnpublishedSeconds openDeadLetters
  groups { group holder epoch leaseExpiresAt unpublished oldestUnpublishedSeconds lastError }`;
const REPLAY = `id consumer: consumerName mode filter { types userId occurredFrom occurredTo sequenceFrom sequenceTo } status total sent
  skipped requestedBy reason createdAt startedAt finishedAt error`;
const REPLAY_OUTCOME = `... on EventReplay { ${REPLAY} } ... on EventReplayPreview { total }`;

const GONE = { 404: 'There is no such event, or the log no longer has it' };

const PUBLISHED_EXAMPLE = {
  type: 'external_sync.started.v1',
  subject: 'partner_sync:orders',
  data: {
    run_id: '019a9f10-0000-7a00-8000-000000000001',
    direction: 'pull',
    entity: 'orders',
    cursor: null,
    started_at: '2026-11-20T09:30:00.000Z',
  },
};

const types: Route[] = [
  get('/v1/event-types', 'eventTypes', TYPE, 'Event types by name'),
  get('/v1/event-types/{name}', 'eventType', TYPE, 'Read an event type'),
  get('/v1/event-types/{name}/schema', 'eventType.jsonSchema', null, 'JSON Schema of an event type', { as: 'eventTypeSchema', etag: true }),
  get('/v1/asyncapi.json', 'asyncApi', null, 'AsyncAPI 3 document of what webhooks deliver, or of the whole bus', { etag: true }),
];

const log: Route[] = [
  get('/v1/events', 'platformEvents', EVENT, 'The log, newest first or in the order of the relay'),
  post('/v1/events', 'publishEvent', PUBLISHED, 'Publish an event; Idempotency-Key is required', {
    status: 201,
    problems: { 413: 'data is longer than 64 KiB' },
    example: { request: PUBLISHED_EXAMPLE },
  }),
  post('/v1/events/batch', 'publishEvents', PUBLISHED, 'Publish 1 to 100 events, all or none; Idempotency-Key is required', {
    status: 201,
    problems: { 413: 'The data of an event is longer than 64 KiB' },
    example: { request: { events: [PUBLISHED_EXAMPLE] } },
  }),
  get('/v1/events/me', 'myEvents', 'id type occurredAt', 'Events about oneself, without data'),
  get('/v1/events/{id}', 'platformEvent', `${EVENT} ${HANDLING}`, 'Read an event', { problems: GONE }),
  get('/v1/events/{id}/trace', 'platformEvent.trace', TRACE, 'What led to an event, what followed from it, and what became of each', {
    problems: GONE,
  }),
  get('/v1/bus', 'busHealth', BUS, 'How the event bus does'),
];

const consumers: Route[] = [
  get('/v1/consumers', 'eventConsumers', CONSUMER, 'Consumers by name'),
  get('/v1/consumers/{name}', 'eventConsumer', CONSUMER, 'Read a consumer'),
  post('/v1/consumers/{name}/pause', 'pauseEventConsumer', CONSUMER, 'Pause a consumer: its events wait', {
    problems: { 409: 'It is not active' },
  }),
  post('/v1/consumers/{name}/resume', 'resumeEventConsumer', CONSUMER, 'Resume a consumer: what waited is handled in order', {
    problems: { 409: 'It is not paused' },
  }),
  post('/v1/consumers/{name}/detach', 'detachEventConsumer', CONSUMER, 'Detach a consumer: its queues are removed', {
    problems: { 409: 'It is detached' },
  }),
  post(
    '/v1/consumers/{name}/attach',
    'attachEventConsumer',
    CONSUMER,
    'Attach a consumer: it gets what it has missed from the log, then what comes',
    { status: 202, problems: { 409: 'It is not detached, or the log no longer has what it has missed' } },
  ),
];

const deadLetters: Route[] = [
  get('/v1/dead-letters', 'consumerDeadLetters', LETTER, 'Dead letters of the consumers, oldest first'),
  get('/v1/dead-letters/{id}', 'consumerDeadLetter', `${LETTER} blockedBehind { id }`, 'Read a dead letter'),
  post('/v1/dead-letters/{id}/replay', 'replayConsumerDeadLetter', LETTER, 'Try a dead letter again, and what is parked behind it', {
    status: 202,
    problems: { 409: 'It is not dead, or not the first of its key' },
  }),
  post('/v1/dead-letters/{id}/discard', 'discardConsumerDeadLetter', LETTER, 'Give a dead letter up; its key goes on', {
    problems: { 409: 'It is not dead' },
    example: { request: { reason: 'The order was cancelled by hand' } },
  }),
  post(
    '/v1/dead-letters/replay',
    'replayConsumerDeadLetters',
    'keys events',
    "Try a consumer's dead letters again, each key from its first one",
    { status: 202, example: { request: { consumer: 'webhooks.delivery', reason: 'handler_error' } } },
  ),
];

const replays: Route[] = [
  post(
    '/v1/replays',
    'createEventReplay',
    REPLAY_OUTCOME,
    'Send events of the log to a consumer again; with dry_run only count them (200)',
    {
      status: [201, 200],
      problems: { 409: 'A replay of the consumer is not finished, or it is detached' },
      example: {
        request: {
          consumer: 'webhooks.delivery',
          mode: 'dedupe',
          filter: { types: ['payment.paid.v1'], occurred_from: '2026-11-19T00:00:00.000Z', occurred_to: '2026-11-20T00:00:00.000Z' },
          reason: 'rule fix',
          dry_run: false,
        },
      },
    },
  ),
  get('/v1/replays', 'eventReplays', REPLAY, 'Replays, newest first'),
  get('/v1/replays/{id}', 'eventReplay', REPLAY, 'Read a replay'),
  post('/v1/replays/{id}/cancel', 'cancelEventReplay', REPLAY, 'Cancel a replay; what was sent stays sent', {
    problems: { 409: 'It is finished' },
  }),
];

const clock: Route[] = [post('/v1/admin/test-clock', 'setEventsClock', 'now', "Move this service's manual clock (development and tests)")];

/** Routes of the events service. Source: contracts/events.md, section 4. */
const table: RouteTable = { service: 'events', routes: [...types, ...log, ...consumers, ...deadLetters, ...replays, ...clock] };
export default table;
