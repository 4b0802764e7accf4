import { body, input, path, query, type Route, type RouteTable } from '../route.js';

const PAGE = 'pageInfo { endCursor hasNextPage }';

const TYPE =
  'name owner emitters description userRule scope sensitive revision jsonSchema example deprecatedAt sunsetAt replacedBy lastEmittedAt count24h';

const CONSUMER = `name service types partitions generation status pausedReason depth lagSeconds oldestUnhandledAt blockedKeys deadLetters position lastSeenAt version`;

const LETTER = `id consumer: consumerName eventId orderKey sequence type status reason errorClass errorMessage attempts nextAttemptAt firstFailedAt lastFailedAt
  resolvedBy resolvedAt`;

const EVENT = `id type userId subject occurredAt sequence source brandId publishedAt requestId actor traceId causationId data erasedAt`;

const HANDLING = 'handling { consumer: consumerName status at }';

/** Without `data`: a tree has up to 200 of them. */
const TRACED = 'id type userId subject occurredAt sequence source publishedAt requestId actor traceId causationId erasedAt';

const PUBLISHED = 'id type userId subject occurredAt sequence source data';

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
  {
    method: 'GET',
    path: '/v1/event-types',
    status: [200],
    summary: 'Event types by name',
    document: `query EventTypes($owner: String, $scope: String, $subscribable: Boolean, $deprecated: Boolean, $q: String, $first: Int, $after: String) {
      result: eventTypes(owner: $owner, scope: $scope, subscribable: $subscribable, deprecated: $deprecated, q: $q, first: $first, after: $after) {
        nodes { ${TYPE} } ${PAGE}
      }
    }`,
    variables: {
      owner: query('owner'),
      scope: query('scope'),
      subscribable: query('subscribable'),
      deprecated: query('deprecated'),
      q: query('q'),
    },
  },
  {
    method: 'GET',
    path: '/v1/event-types/{name}',
    status: [200],
    summary: 'Read an event type',
    document: `query EventType($name: String!) { result: eventType(name: $name) { ${TYPE} } }`,
    variables: { name: path('name') },
  },
  {
    method: 'GET',
    path: '/v1/event-types/{name}/schema',
    status: [200],
    summary: 'JSON Schema of an event type',
    document: `query EventTypeSchema($name: String!) { eventType(name: $name) { result: jsonSchema } }`,
    variables: { name: path('name') },
    etag: true,
  },
  {
    method: 'GET',
    path: '/v1/asyncapi.json',
    status: [200],
    summary: 'AsyncAPI 3 document of what webhooks deliver, or of the whole bus',
    document: `query AsyncApi($view: AsyncApiView) { result: asyncApi(view: $view) }`,
    variables: { view: query('view') },
    etag: true,
  },
];

const log: Route[] = [
  {
    method: 'GET',
    path: '/v1/events',
    status: [200],
    summary: 'The log, newest first or in the order of the relay',
    document: `query PlatformEvents($type: String, $types: [String!], $userId: ID, $subject: String, $source: String, $occurredFrom: DateTime, $occurredTo: DateTime,
      $order: PlatformEventOrder, $wait: Int, $first: Int, $after: String) {
      result: platformEvents(type: $type, types: $types, userId: $userId, subject: $subject, source: $source, occurredFrom: $occurredFrom, occurredTo: $occurredTo,
        order: $order, wait: $wait, first: $first, after: $after) { nodes { ${EVENT} } ${PAGE} }
    }`,
    variables: {
      type: query('type'),
      types: query('types'),
      userId: query('user_id'),
      subject: query('subject'),
      source: query('source'),
      occurredFrom: query('occurred_from'),
      occurredTo: query('occurred_to'),
      order: query('order'),
      wait: query('wait'),
    },
  },
  {
    method: 'POST',
    path: '/v1/events',
    status: [201],
    location: '/v1/events/{id}',
    summary: 'Publish an event; Idempotency-Key is required',
    document: `mutation PublishEvent($input: PublishEventInput!) { result: publishEvent(input: $input) { ${PUBLISHED} } }`,
    variables: { input: body() },
    example: { request: PUBLISHED_EXAMPLE },
    problems: { 413: 'data is longer than 64 KiB' },
  },
  {
    method: 'POST',
    path: '/v1/events/batch',
    status: [201],
    summary: 'Publish 1 to 100 events, all or none; Idempotency-Key is required',
    document: `mutation PublishEvents($input: PublishEventsInput!) { result: publishEvents(input: $input) { ${PUBLISHED} } }`,
    variables: { input: body() },
    example: { request: { events: [PUBLISHED_EXAMPLE] } },
    problems: { 413: 'The data of an event is longer than 64 KiB' },
  },
  {
    method: 'GET',
    path: '/v1/events/me',
    status: [200],
    summary: 'Events about oneself, without data',
    document: `query MyEvents($types: [String!], $first: Int, $after: String) {
      result: myEvents(types: $types, first: $first, after: $after) { nodes { id type occurredAt } ${PAGE} }
    }`,
    variables: { types: query('types') },
  },
  {
    method: 'GET',
    path: '/v1/events/{id}',
    status: [200],
    summary: 'Read an event',
    document: `query PlatformEvent($id: ID!) { result: platformEvent(id: $id) { ${EVENT} ${HANDLING} } }`,
    variables: { id: path('id') },
    problems: { 404: 'There is no such event, or the log no longer has it' },
  },
  {
    method: 'GET',
    path: '/v1/events/{id}/trace',
    status: [200],
    summary: 'What led to an event, what followed from it, and what became of each',
    document: `query PlatformEventTrace($id: ID!) { platformEvent(id: $id) { result: trace {
      causes { ${TRACED} ${HANDLING} } nodes { depth event { ${TRACED} ${HANDLING} } } truncated } } }`,
    variables: { id: path('id') },
    problems: { 404: 'There is no such event, or the log no longer has it' },
  },
  {
    method: 'GET',
    path: '/v1/bus',
    status: [200],
    summary: 'How the event bus does',
    document: `query BusHealth { result: busHealth { transport connected roundtripP50Ms roundtripP95Ms unpublished oldestUnpublishedSeconds openDeadLetters
      groups { group holder epoch leaseExpiresAt unpublished oldestUnpublishedSeconds lastError } } }`,
  },
];

const consumers: Route[] = [
  {
    method: 'GET',
    path: '/v1/consumers',
    status: [200],
    summary: 'Consumers by name',
    document: `query EventConsumers($service: String, $status: ConsumerStatus, $first: Int, $after: String) {
      result: eventConsumers(service: $service, status: $status, first: $first, after: $after) { nodes { ${CONSUMER} } ${PAGE} }
    }`,
    variables: { service: query('service'), status: query('status') },
  },
  {
    method: 'GET',
    path: '/v1/consumers/{name}',
    status: [200],
    summary: 'Read a consumer',
    document: `query EventConsumer($name: String!) { result: eventConsumer(name: $name) { ${CONSUMER} } }`,
    variables: { name: path('name') },
  },
  {
    method: 'POST',
    path: '/v1/consumers/{name}/pause',
    status: [200],
    summary: 'Pause a consumer: its events wait',
    document: `mutation PauseEventConsumer($input: PauseEventConsumerInput!) { result: pauseEventConsumer(input: $input) { ${CONSUMER} } }`,
    variables: { input: input({ path: ['name'] }) },
    problems: { 409: 'It is not active' },
  },
  {
    method: 'POST',
    path: '/v1/consumers/{name}/resume',
    status: [200],
    summary: 'Resume a consumer: what waited is handled in order',
    document: `mutation ResumeEventConsumer($input: ResumeEventConsumerInput!) { result: resumeEventConsumer(input: $input) { ${CONSUMER} } }`,
    variables: { input: input({ path: ['name'] }) },
    problems: { 409: 'It is not paused' },
  },
  {
    method: 'POST',
    path: '/v1/consumers/{name}/detach',
    status: [200],
    summary: 'Detach a consumer: its queues are removed',
    document: `mutation DetachEventConsumer($input: DetachEventConsumerInput!) { result: detachEventConsumer(input: $input) { ${CONSUMER} } }`,
    variables: { input: input({ path: ['name'] }) },
    problems: { 409: 'It is detached' },
  },
  {
    method: 'POST',
    path: '/v1/consumers/{name}/attach',
    status: [202],
    summary: 'Attach a consumer: it gets what it has missed from the log, then what comes',
    document: `mutation AttachEventConsumer($input: AttachEventConsumerInput!) { result: attachEventConsumer(input: $input) { ${CONSUMER} } }`,
    variables: { input: input({ path: ['name'] }) },
    problems: { 409: 'It is not detached, or the log no longer has what it has missed' },
  },
];

const deadLetters: Route[] = [
  {
    method: 'GET',
    path: '/v1/dead-letters',
    status: [200],
    summary: 'Dead letters of the consumers, oldest first',
    document: `query ConsumerDeadLetters($consumer: String, $status: [DeadLetterStatus!], $reason: DeadLetterReason, $type: String, $userId: ID, $first: Int, $after: String) {
      result: consumerDeadLetters(consumer: $consumer, status: $status, reason: $reason, type: $type, userId: $userId, first: $first, after: $after) {
        nodes { ${LETTER} } ${PAGE}
      }
    }`,
    variables: {
      consumer: query('consumer'),
      status: query('status'),
      reason: query('reason'),
      type: query('type'),
      userId: query('user_id'),
    },
  },
  {
    method: 'GET',
    path: '/v1/dead-letters/{id}',
    status: [200],
    summary: 'Read a dead letter',
    document: `query ConsumerDeadLetter($id: ID!) { result: consumerDeadLetter(id: $id) { ${LETTER} blockedBehind { id } } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/dead-letters/{id}/replay',
    status: [202],
    summary: 'Try a dead letter again, and what is parked behind it',
    document: `mutation ReplayConsumerDeadLetter($input: ReplayConsumerDeadLetterInput!) { result: replayConsumerDeadLetter(input: $input) { ${LETTER} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is not dead, or not the first of its key' },
  },
  {
    method: 'POST',
    path: '/v1/dead-letters/{id}/discard',
    status: [200],
    summary: 'Give a dead letter up; its key goes on',
    document: `mutation DiscardConsumerDeadLetter($input: DiscardConsumerDeadLetterInput!) { result: discardConsumerDeadLetter(input: $input) { ${LETTER} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { reason: 'The order was cancelled by hand' } },
    problems: { 409: 'It is not dead' },
  },
  {
    method: 'POST',
    path: '/v1/dead-letters/replay',
    status: [202],
    summary: "Try a consumer's dead letters again, each key from its first one",
    document: `mutation ReplayConsumerDeadLetters($input: ReplayConsumerDeadLettersInput!) { result: replayConsumerDeadLetters(input: $input) { keys events } }`,
    variables: { input: body() },
    example: { request: { consumer: 'webhooks.delivery', reason: 'handler_error' } },
  },
];

const REPLAY = `id consumer: consumerName mode filter { types userId occurredFrom occurredTo sequenceFrom sequenceTo } status total sent skipped requestedBy reason
  createdAt startedAt finishedAt error`;

const replays: Route[] = [
  {
    method: 'POST',
    path: '/v1/replays',
    status: [201, 200],
    location: '/v1/replays/{id}',
    summary: 'Send events of the log to a consumer again; with dry_run only count them (200)',
    document: `mutation CreateEventReplay($input: CreateEventReplayInput!) {
      result: createEventReplay(input: $input) { ... on EventReplay { ${REPLAY} } ... on EventReplayPreview { total } } }`,
    variables: { input: body() },
    example: {
      request: {
        consumer: 'webhooks.delivery',
        mode: 'dedupe',
        filter: { types: ['payment.paid.v1'], occurred_from: '2026-11-19T00:00:00.000Z', occurred_to: '2026-11-20T00:00:00.000Z' },
        reason: 'rule fix',
        dry_run: false,
      },
    },
    problems: { 409: 'A replay of the consumer is not finished, or it is detached' },
  },
  {
    method: 'GET',
    path: '/v1/replays',
    status: [200],
    summary: 'Replays, newest first',
    document: `query EventReplays($consumer: String, $status: [EventReplayStatus!], $first: Int, $after: String) {
      result: eventReplays(consumer: $consumer, status: $status, first: $first, after: $after) { nodes { ${REPLAY} } ${PAGE} } }`,
    variables: { consumer: query('consumer'), status: query('status') },
  },
  {
    method: 'GET',
    path: '/v1/replays/{id}',
    status: [200],
    summary: 'Read a replay',
    document: `query EventReplay($id: ID!) { result: eventReplay(id: $id) { ${REPLAY} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/replays/{id}/cancel',
    status: [200],
    summary: 'Cancel a replay; what was sent stays sent',
    document: `mutation CancelEventReplay($input: CancelEventReplayInput!) { result: cancelEventReplay(input: $input) { ${REPLAY} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is finished' },
  },
];

const clock: Route[] = [
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: "Move this service's manual clock (development and tests)",
    document: `mutation SetEventsClock($input: SetClockInput!) { result: setEventsClock(input: $input) { now } }`,
    variables: { input: body() },
  },
];

/** Routes of the events service. Source: contracts/events.md, section 4. */
const table: RouteTable = { service: 'events', routes: [...types, ...log, ...consumers, ...deadLetters, ...replays, ...clock] };
export default table;
