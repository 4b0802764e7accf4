import { get, patch, post, type Route } from '../../route.js';

const STAFF = `id email displayName title department status statusReason visibleInTeam user { id }
  roles { id role { key name } brandId grantedBy grantedAt expiresAt } invitedRoles brandId invitedBy invitedAt inviteExpiresAt acceptedAt
  lastActiveAt version`;
const IDENTITY = `identity { email userId staffId } staff { ${STAFF} }`;
const CANDIDATE = `userId change reasons contact { email displayName phone locale timeZone countryCode } marketingConsent status changedAt
  hash`;
const ASSIGNMENT = 'id userId role { key name permissions } brandId grantedBy grantedAt expiresAt revokedAt reason';
const PERMISSION = 'userId permission allowed reason matched { assignmentId role permission }';
const MODERATION = 'status since until reasonCode history { id kind reasonCode note until actor at }';
const MODERATED = `id moderation { ${MODERATION} } updatedAt version`;

const staff: Route[] = [
  get('/v1/admin/staff', 'staff', STAFF, 'List who works here, worked here, or was asked to'),
  patch('/v1/admin/staff/{id}', 'updateStaff', STAFF, 'Change an entry, or end a suspension', {
    problems: { 403: 'The own entry, or power that the caller lacks', 409: 'Not suspended, or changed meanwhile' },
  }),
  post('/v1/admin/staff/invite', 'inviteStaff', STAFF, 'Ask somebody to work here', {
    status: 201,
    problems: {
      403: 'A role holds a permission that the caller lacks',
      409: 'An open invitation or a member',
      429: 'More than 50 an hour',
    },
  }),
  post('/v1/admin/staff/resolve', 'resolveStaff', IDENTITY, 'Find out who stands behind identities'),
  post('/v1/admin/staff/{id}/remove', 'removeStaff', STAFF, "End somebody's work here", {
    problems: { 403: 'The own entry', 409: 'Not working here, or the last active owner' },
  }),
  post('/v1/admin/staff/{id}/resend', 'resendStaffInvitation', STAFF, 'Send an invitation again', {
    problems: { 409: 'Accepted or taken back', 429: 'Sent less than a minute ago' },
  }),
  post('/v1/admin/staff/{id}/revoke', 'revokeStaffInvitation', STAFF, 'Take an invitation back', { problems: { 409: 'Not open' } }),
  post('/v1/admin/staff/{id}/suspend', 'suspendStaff', STAFF, 'Take somebody off duty', {
    problems: { 403: 'The own entry', 409: 'Not active, or the last active owner' },
  }),
  get('/v1/internal-team', 'internalTeam', 'id displayName title department avatarUrl email', 'List colleagues'),
];

const contacts: Route[] = [get('/v1/admin/crm-sync/candidates', 'crmSyncCandidates', CANDIDATE, 'List users who have changed, for a CRM')];

const roles: Route[] = [
  get('/v1/rbac/roles', 'roles', 'key name description permissions builtIn', 'List the roles'),
  get('/v1/rbac/check', 'permissionCheck', PERMISSION, 'Ask whether somebody may do something'),
  post('/v1/rbac/assignments', 'assignRole', ASSIGNMENT, 'Give somebody a role', {
    status: [201, 200],
    problems: { 403: 'The role holds a permission that the caller lacks, or is for the caller' },
  }),
  post('/v1/rbac/assignments/revoke', 'revokeRole', ASSIGNMENT, 'Take a role away', { problems: { 409: 'The last active owner' } }),
];

const moderation: Route[] = [
  get('/v1/admin/users/{user_id}/moderation', 'userModeration', MODERATION, 'Read how an account stands, and what was done to it'),
  post('/v1/admin/users/{user_id}/ban', 'banUser', MODERATED, 'Close an account for good', {
    problems: { 409: 'Banned already, the last active owner, or being erased' },
  }),
  post('/v1/admin/users/{user_id}/suspend', 'suspendUser', MODERATED, 'Close an account for a while', {
    problems: { 409: 'Not active, the last active owner, or being erased' },
  }),
  post('/v1/admin/users/{user_id}/reinstate', 'reinstateUser', MODERATED, 'Open a closed account', { problems: { 409: 'Not closed' } }),
];

const clock: Route[] = [post('/v1/admin/test-clock', 'setIdentityClock', 'now', 'Move the manual clock')];

export default [...staff, ...contacts, ...roles, ...moderation, ...clock];
