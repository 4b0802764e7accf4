import type { RouteTable } from '../route.js';
import clients from './identity/clients.js';
import erasure from './identity/erasure.js';
import mfa from './identity/mfa.js';
import sessions from './identity/sessions.js';
import staff from './identity/staff.js';
import users from './identity/users.js';

/** Routes of the identity service. Source: contracts/identity.md, section 4. */
const table: RouteTable = { service: 'identity', routes: [...sessions, ...staff, ...clients, ...users, ...erasure, ...mfa] };
export default table;
