import { post, type RouteTable } from '../route.js';
import { items, policies } from './content/items.js';

/** Routes of the content service. Source: contracts/content.md, section 4. */
const table: RouteTable = {
  service: 'content',
  routes: [
    ...items,
    ...policies,
    post('/v1/admin/test-clock', 'setContentClock', 'now', "Move this service's manual clock (development and tests)"),
  ],
};
export default table;
