import type { RouteTable } from '../route.js';
import { carts } from './commerce/carts.js';
import { catalogue } from './commerce/catalogue.js';
import { orders } from './commerce/orders.js';
import { subscriptions } from './commerce/subscriptions.js';
import { sync } from './commerce/sync.js';

/** Routes of the commerce service. Source: contracts/commerce.md, section 4. */
const table: RouteTable = { service: 'commerce', routes: [...catalogue, ...carts, ...orders, ...subscriptions, ...sync] };
export default table;
