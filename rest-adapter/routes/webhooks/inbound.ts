import { input, path, query, type Route } from '../../route.js';
import { PAGE, RECEIPT } from './selections.js';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/inbound-receipts',
    status: [200],
    summary: 'Vendor calls that were taken',
    document: `query InboundReceipts($source: String, $topic: String, $externalId: String, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
      result: inboundReceipts(source: $source, topic: $topic, externalId: $externalId, from: $from, to: $to, first: $first, after: $after) {
        nodes { ${RECEIPT} } ${PAGE}
      }
    }`,
    variables: {
      source: query('source'),
      topic: query('topic'),
      externalId: query('external_id'),
      from: query('from'),
      to: query('to'),
    },
  },
  {
    method: 'GET',
    path: '/v1/inbound-receipts/{id}',
    status: [200],
    summary: 'Read a vendor call that was taken',
    document: `query InboundReceipt($id: ID!) { result: inboundReceipt(id: $id) { ${RECEIPT} body } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/inbound-receipts/{id}/replay',
    status: [202],
    summary: 'Emit the event of a vendor call again',
    document: `mutation ReplayInboundReceipt($input: ReplayInboundReceiptInput!) { result: replayInboundReceipt(input: $input) { ${RECEIPT} } }`,
    variables: { input: input({ body: false, path: ['id'] }) },
  },
  {
    method: 'GET',
    path: '/v1/inbound-sources',
    status: [200],
    summary: 'Vendors whose calls are taken',
    document: `query InboundSources { result: inboundSources { name scheme headerNames toleranceSeconds lastReceivedAt rejected24h secrets } }`,
  },
];

export default routes;
