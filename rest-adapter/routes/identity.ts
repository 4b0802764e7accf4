import type { RouteTable } from '../route.js';
import sessions from './identity/sessions.js';
import crmSync from './identity/crm-sync.js';
import staff from './identity/staff.js';
import tokens from './identity/tokens.js';
import rbac from './identity/rbac.js';
import moderation from './identity/moderation.js';
import clock from './identity/clock.js';
import emailChange from './identity/email-change.js';
import entitlements from './identity/entitlements.js';
import erasure from './identity/erasure.js';
import grants from './identity/grants.js';
import mfa from './identity/mfa.js';
import oauthClients from './identity/oauth-clients.js';
import people from './identity/people.js';
import users from './identity/users.js';

/** Identity's documented paths, one file a part. */
const table: RouteTable = {
  service: 'identity',
  routes: [
    ...sessions,
    ...tokens,
    ...staff,
    ...crmSync,
    ...rbac,
    ...moderation,
    ...clock,
    ...grants,
    ...oauthClients,
    ...users,
    ...people,
    ...emailChange,
    ...entitlements,
    ...erasure,
    ...mfa,
  ],
};

export default table;
