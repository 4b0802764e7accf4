import type { RouteTable } from '../route.js';
import administration from './webhooks/administration.js';
import deliveries from './webhooks/deliveries.js';
import inbound from './webhooks/inbound.js';
import jobs from './webhooks/jobs.js';
import subscriptions from './webhooks/subscriptions.js';

/** Routes of the webhooks service. Source: contracts/webhooks.md, section 4. */
const table: RouteTable = { service: 'webhooks', routes: [...subscriptions, ...deliveries, ...jobs, ...inbound, ...administration] };
export default table;
