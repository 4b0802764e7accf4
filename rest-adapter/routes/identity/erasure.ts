import { get, patch, post, type Route } from '../../route.js';

const REQUEST = `id userId scope status origin reason holdReason scheduledFor dueBy createdAt startedAt completedAt
  tasks { service status outcome retainedBasis records attempts confirmedAt } receipt version`;

const routes: Route[] = [
  post('/v1/erasure-requests', 'requestErasure', `${REQUEST} receiptUrl`, 'Ask that data be erased', {
    status: 201,
    problems: { 409: 'An erasure of this account is open, or done, or it is the last active owner' },
    example: { request: { scope: 'full' } },
  }),
  get('/v1/erasure-requests/{request_id}', 'erasureRequest', REQUEST, 'Read an erasure request', { path: { request_id: 'id' } }),
  patch(
    '/v1/erasure-requests/{request_id}',
    'updateErasureRequest',
    REQUEST,
    'Cancel, hold, release, start or reject an erasure, or confirm it for a service',
    {
      path: { request_id: 'id' },
      problems: { 409: 'Its state does not allow this step, or the service has confirmed another outcome' },
      example: { request: { status: 'cancelled' } },
    },
  ),
  get('/v1/erasure-receipts/{token}', 'erasureReceipt', 'status scheduledFor completedAt receipt', 'Read the receipt of an erasure'),
];

export default routes;
