import { get, patch, post, del, type Route, type RouteTable } from '../route.js';

const ENTITY = 'entity { type id }';
const ITEM = `id kind topic title body why deepLink ${ENTITY} count status priority createdAt seenAt readAt archivedAt expiresAt`;
const MESSAGE = `id requestId channel topic templateKey templateVersion locale category status statusReason recipientMasked ${ENTITY} scheduledFor sentAt deliveredAt
  attempts { number at outcome providerCode } providerRef digestId content createdAt version`;
const REQUEST = `id source dedupeKey template status rejectReason category ${ENTITY} sendAfter expiresAt messages { id channel status statusReason } createdAt`;
const PREFERENCES = `userId topics { topic channels { email sms push inApp } } channels { email sms push } quietHours { enabled from to }
  digest { mentions hour weekday } lockScreenDetail smsConsent { granted at source } version`;
const TOPIC = 'key name description category defaultChannels allowedChannels mandatory digestible urgent';
const VERSION =
  'id channel locale number status subject preheader mjml text title body deepLink lockScreenBody why createdBy createdAt publishedAt';
const TEMPLATE = 'id key brandId topic locales { channel locale number status } variables example audience archivedAt createdAt version';
const DEVICE = 'id platform label createdAt lastSuccessAt failures status';
const SUPPRESSION = 'id channel addressHash reason scope source createdAt expiresAt';

const aUser = '0190b3a0-0000-7000-8000-0000000000a1';

const inbox: Route[] = [
  get('/v1/inbox', 'commsInbox', ITEM, 'List items of the app'),
  get('/v1/inbox/count', 'commsInboxCount', 'unseen unread', 'Count items that wait'),
  get('/v1/inbox/{id}', 'commsInboxItem', ITEM, 'Read an item'),
  ...(['READ', 'UNREAD', 'ARCHIVE', 'RESTORE'] as const).map(action =>
    post(`/v1/inbox/{id}/${action.toLowerCase()}`, 'updateCommsInboxItem', ITEM, `Mark an item: ${action.toLowerCase()}`, {
      as: `${action.toLowerCase()}CommsInboxItem`,
      constant: { action },
      problems: { 409: 'The item is archived' },
    }),
  ),
  post('/v1/inbox/stream-ticket', 'commsInboxStreamTicket', 'ticket expiresAt path', 'Get a ticket for the stream of the inbox', {
    status: 201,
  }),
  post('/v1/inbox/seen', 'markCommsInbox', 'changed', 'Mark items as seen', {
    as: 'seeCommsInbox',
    constant: { as: 'SEEN' },
    example: { request: { up_to: aUser } },
  }),
  post('/v1/inbox/read-all', 'markCommsInbox', 'changed', 'Mark items as read', {
    as: 'readCommsInbox',
    constant: { as: 'READ' },
    example: { request: { up_to: aUser } },
  }),
];

const preferences: Route[] = [
  get('/v1/preferences', 'commsPreferences', PREFERENCES, 'Read what a person wants to get'),
  patch('/v1/preferences', 'updateCommsPreferences', PREFERENCES, 'Change what a person wants to get', {
    problems: { 409: 'A topic cannot be switched off, or it was changed meanwhile' },
    example: { request: { user_id: aUser, lock_screen_detail: 'hidden' } },
  }),
  get('/v1/topics', 'commsTopics', TOPIC, 'List what messages can be about'),
  get('/v1/push/key', 'pushPublicKey', 'vapidPublicKey', 'Read the public key of Web Push'),
  post('/v1/push-subscriptions', 'registerPushSubscription', DEVICE, 'Register a browser or device for pushes', {
    status: [201, 200],
    location: '/v1/push-subscriptions/{id}',
    problems: { 409: 'There are twenty devices' },
    example: { request: { platform: 'android', token: 'a-token-of-the-vendor', label: 'My phone' } },
  }),
  get('/v1/push-subscriptions', 'myPushSubscriptions', DEVICE, 'List own browsers and devices'),
  del('/v1/push-subscriptions/{id}', 'removePushSubscription', 'id', 'Take a browser or device away'),
];

const messages: Route[] = [
  post('/v1/messages', 'sendCommsMessage', REQUEST, 'Ask for a message to a person', {
    status: [202, 200],
    problems: { 422: 'The dedupe key was used with another body' },
    example: { request: { dedupe_key: 'order:1:placed', template: 'order_placed', user_id: aUser, params: { order_number: 'A-1042' } } },
  }),
  post('/v1/messages/batch', 'sendCommsMessages', `results { userId request { ${REQUEST} } error }`, 'Ask for a message to many people', {
    status: 202,
    example: { request: { dedupe_key: 'news:1', template: 'welcome', user_ids: [aUser] } },
  }),
  get('/v1/messages/me', 'commsMessages', MESSAGE, 'List own messages', { as: 'myCommsMessages' }),
  get('/v1/messages', 'commsMessages', MESSAGE, 'List messages of a person, or about a thing'),
  get('/v1/messages/{id}', 'commsMessage', MESSAGE, 'Read a message'),
  post('/v1/messages/{id}/cancel', 'cancelCommsMessage', MESSAGE, 'Stop a message that has not left', {
    problems: { 409: 'It is on its way, or over' },
  }),
];

const admin: Route[] = [
  get(
    '/v1/admin/messages/{id}/explain',
    'explainCommsMessage',
    `message { ${MESSAGE} } checks { check passed fact } nextAt`,
    'Why a message was sent, waits, or was not sent',
  ),
  get('/v1/admin/templates', 'commsTemplates', TEMPLATE, 'List templates'),
  post('/v1/admin/templates', 'createCommsTemplate', TEMPLATE, 'Make a template', {
    status: 201,
    problems: { 409: 'The key is taken' },
    example: { request: { key: 'spring_news', topic: 'offers', variables: { type: 'object', properties: {}, required: [] }, example: {} } },
  }),
  get('/v1/admin/templates/{id}', 'commsTemplate', TEMPLATE, 'Read a template'),
  patch('/v1/admin/templates/{id}', 'updateCommsTemplate', TEMPLATE, 'Change a template', { example: { request: { example: {} } } }),
  del('/v1/admin/templates/{id}', 'archiveCommsTemplate', null, 'Take a template out of use'),
  post('/v1/admin/templates/{id}/versions', 'addCommsTemplateVersion', VERSION, 'Write a version', {
    status: 201,
    example: { request: { channel: 'in_app', locale: 'en', title: 'News', body: 'There is news.' } },
  }),
  post('/v1/admin/templates/{id}/versions/{v}/publish', 'publishCommsTemplateVersion', VERSION, 'Publish a version', {
    path: { id: 'templateId', v: 'id' },
    problems: { 409: 'It is published' },
  }),
  post(
    '/v1/admin/templates/{id}/preview',
    'previewCommsTemplate',
    'channel locale subject title body text html',
    'Show a template with its example',
    { omit: ['key'], example: { request: { channel: 'in_app' } } },
  ),
  post('/v1/admin/templates/{id}/test', 'testCommsTemplate', REQUEST, 'Send a template to oneself', { status: 202 }),
  get('/v1/admin/suppressions', 'commsSuppressions', SUPPRESSION, 'List addresses that are stopped'),
  post('/v1/admin/suppressions', 'addCommsSuppression', SUPPRESSION, 'Stop an address', {
    status: [201, 200],
    example: { request: { channel: 'email', address: 'nobody@example.test' } },
  }),
  post('/v1/admin/suppressions/search', 'searchCommsSuppressions', SUPPRESSION, 'What stops an address', {
    example: { request: { channel: 'email', address: 'nobody@example.test' } },
  }),
  del('/v1/admin/suppressions/{id}', 'removeCommsSuppression', null, 'Let an address be written to', { body: true }),
  get(
    '/v1/admin/stats',
    'commsStats',
    'group sent delivered bounced complained failed skipped latencyP50Ms latencyP95Ms',
    'Figures of a time',
  ),
  get(
    '/v1/admin/captured',
    'capturedCommsMessages',
    'id messageId channel to content createdAt',
    'What the capture provider holds (development and tests)',
  ),
  post('/v1/admin/test-clock', 'setCommsClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the comms service. Source: contracts/comms.md, section 4. */
const table: RouteTable = { service: 'comms', routes: [...inbox, ...preferences, ...messages, ...admin] };
export default table;
