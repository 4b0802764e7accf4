import type { RouteTable } from '../route.js';
import clock from './identity/clock.js';
import erasure from './identity/erasure.js';
import grants from './identity/grants.js';
import oauthClients from './identity/oauth-clients.js';
import people from './identity/people.js';
import users from './identity/users.js';

/** Identity's documented paths, one file a part. */
const table: RouteTable = { service: 'identity', routes: [...clock, ...grants, ...oauthClients, ...users, ...people, ...erasure] };

export default table;
