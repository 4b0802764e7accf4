import type { RouteTable } from '../route.js';
import billing from './payments/billing.js';
import money from './payments/money.js';
import offers from './payments/offers.js';
import processor from './payments/processor.js';

/** Routes of the payments service. Source: contracts/payments.md, section 4. */
const table: RouteTable = { service: 'payments', routes: [...money, ...billing, ...offers, ...processor] };
export default table;
