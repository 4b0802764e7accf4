import { body, input, path, type Route } from '../../route.js';

const REQUEST = `id userId scope status origin reason holdReason scheduledFor dueBy createdAt startedAt completedAt
  tasks { service status outcome retainedBasis records attempts confirmedAt } receipt version`;

const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/erasure-requests',
    status: [201],
    location: '/v1/erasure-requests/{id}',
    summary: 'Ask that data be erased',
    document: `mutation RequestErasure($input: RequestErasureInput!) { result: requestErasure(input: $input) { ${REQUEST} receiptUrl } }`,
    variables: { input: body() },
    problems: { 409: 'An erasure of this account is open, or done, or it is the last active owner' },
    example: { request: { scope: 'full' } },
  },
  {
    method: 'GET',
    path: '/v1/erasure-requests/{request_id}',
    status: [200],
    summary: 'Read an erasure request',
    document: `query ErasureRequest($id: ID!) { result: erasureRequest(id: $id) { ${REQUEST} } }`,
    variables: { id: path('request_id') },
  },
  {
    method: 'PATCH',
    path: '/v1/erasure-requests/{request_id}',
    status: [200],
    summary: 'Cancel, hold, release, start or reject an erasure, or confirm it for a service',
    document: `mutation UpdateErasureRequest($input: UpdateErasureRequestInput!) { result: updateErasureRequest(input: $input) { ${REQUEST} } }`,
    variables: { input: input({ path: { request_id: 'id' } }) },
    problems: { 409: 'Its state does not allow this step, or the service has confirmed another outcome' },
    example: { request: { status: 'cancelled' } },
  },
  {
    method: 'GET',
    path: '/v1/erasure-receipts/{token}',
    status: [200],
    summary: 'Read the receipt of an erasure',
    document: 'query ErasureReceipt($token: String!) { result: erasureReceipt(token: $token) { status scheduledFor completedAt receipt } }',
    variables: { token: path('token') },
  },
];

export default routes;
