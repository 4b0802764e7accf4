import { body, input, path, type Route } from '../../route.js';
import { JOB } from './selections.js';

const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/webhook-subscriptions/{id}/recover',
    status: [202],
    location: '/v1/webhook-jobs/{id}',
    summary: 'Deliver the events of a time that were missed',
    document: `mutation RecoverWebhookSubscription($input: RecoverWebhookSubscriptionInput!) { result: recoverWebhookSubscription(input: $input) { ${JOB} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { since: '2026-11-20T00:00:00.000Z' } },
    problems: { 409: 'The subscription is not active, or a job of it runs' },
  },
  {
    method: 'POST',
    path: '/v1/webhook-dead-letters/replay',
    status: [202, 200],
    summary: 'Deliver dead letters again, or count them',
    document: `mutation ReplayWebhookDeadLetters($input: ReplayWebhookDeadLettersInput!) {
      result: replayWebhookDeadLetters(input: $input) { id kind subscriptionId status matched created skipped requestedBy createdAt }
    }`,
    variables: { input: body() },
    omitNull: ['id', 'kind', 'subscription_id', 'status', 'created', 'skipped', 'requested_by', 'created_at'],
    example: { request: { subscription_id: '019a9f20-0000-7000-8000-000000000001', dry_run: true } },
    problems: { 409: 'The subscription is disabled, or a job of it runs' },
  },
  {
    method: 'GET',
    path: '/v1/webhook-jobs/{id}',
    status: [200],
    summary: 'Read a bulk replay or recovery',
    document: `query WebhookJob($id: ID!) { result: webhookJob(id: $id) { ${JOB} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/webhook-jobs/{id}/cancel',
    status: [200],
    summary: 'Stop a bulk replay or recovery',
    document: `mutation CancelWebhookJob($input: CancelWebhookJobInput!) { result: cancelWebhookJob(input: $input) { ${JOB} } }`,
    variables: { input: input({ body: false, path: ['id'] }) },
    problems: { 409: 'The job has ended' },
  },
];

export default routes;
