import { body, input, path, type Route } from '../../route.js';

const STAFF = `id email displayName title department status statusReason visibleInTeam user { id } roles { id role { key name } brandId grantedBy grantedAt expiresAt }
  invitedRoles brandId invitedBy invitedAt inviteExpiresAt acceptedAt lastActiveAt version`;

const one = { id: path('id') };
const concerning = { input: input({ path: ['id'] }) };

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/staff',
    status: [200],
    summary: 'List who works here, worked here, or was asked to',
    document: `query Staff($filter: StaffFilter, $first: Int, $after: String) {
      result: staff(filter: $filter, first: $first, after: $after) { nodes { ${STAFF} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { filter: input({ body: false, query: ['status', 'role', 'q'] }) },
  },
  {
    method: 'PATCH',
    path: '/v1/admin/staff/{id}',
    status: [200],
    summary: 'Change an entry, or end a suspension',
    document: `mutation UpdateStaff($input: UpdateStaffInput!) { result: updateStaff(input: $input) { ${STAFF} } }`,
    variables: concerning,
    problems: { 403: 'The own entry, or power that the caller lacks', 409: 'Not suspended, or changed meanwhile' },
  },
  {
    method: 'POST',
    path: '/v1/admin/staff/invite',
    status: [201],
    summary: 'Ask somebody to work here',
    document: `mutation InviteStaff($input: InviteStaffInput!) { result: inviteStaff(input: $input) { ${STAFF} } }`,
    variables: { input: body() },
    problems: {
      403: 'A role holds a permission that the caller lacks',
      409: 'An open invitation or a member',
      429: 'More than 50 an hour',
    },
  },
  {
    method: 'POST',
    path: '/v1/admin/staff/resolve',
    status: [200],
    summary: 'Find out who stands behind identities',
    document: `query ResolveStaff($input: ResolveStaffInput!) { result: resolveStaff(input: $input) { identity { email userId staffId } staff { ${STAFF} } } }`,
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/staff/{id}/remove',
    status: [200],
    summary: "End somebody's work here",
    document: `mutation RemoveStaff($input: RemoveStaffInput!) { result: removeStaff(input: $input) { ${STAFF} } }`,
    variables: concerning,
    problems: { 403: 'The own entry', 409: 'Not working here, or the last active owner' },
  },
  {
    method: 'POST',
    path: '/v1/admin/staff/{id}/resend',
    status: [200],
    summary: 'Send an invitation again',
    document: `mutation ResendStaffInvitation($id: ID!) { result: resendStaffInvitation(id: $id) { ${STAFF} } }`,
    variables: one,
    problems: { 409: 'Accepted or taken back', 429: 'Sent less than a minute ago' },
  },
  {
    method: 'POST',
    path: '/v1/admin/staff/{id}/revoke',
    status: [200],
    summary: 'Take an invitation back',
    document: `mutation RevokeStaffInvitation($id: ID!) { result: revokeStaffInvitation(id: $id) { ${STAFF} } }`,
    variables: one,
    problems: { 409: 'Not open' },
  },
  {
    method: 'POST',
    path: '/v1/admin/staff/{id}/suspend',
    status: [200],
    summary: 'Take somebody off duty',
    document: `mutation SuspendStaff($input: SuspendStaffInput!) { result: suspendStaff(input: $input) { ${STAFF} } }`,
    variables: concerning,
    problems: { 403: 'The own entry', 409: 'Not active, or the last active owner' },
  },
  {
    method: 'GET',
    path: '/v1/internal-team',
    status: [200],
    summary: 'List colleagues',
    document: `query InternalTeam($first: Int, $after: String) {
      result: internalTeam(first: $first, after: $after) { nodes { id displayName title department avatarUrl email } pageInfo { endCursor hasNextPage } }
    }`,
  },
];

export default routes;
