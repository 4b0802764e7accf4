import { body, query, type Route } from '../../route.js';

const ASSIGNMENT = 'id userId role { key name permissions } brandId grantedBy grantedAt expiresAt revokedAt reason';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/rbac/roles',
    status: [200],
    summary: 'List the roles',
    document: 'query Roles { result: roles { key name description permissions builtIn } }',
  },
  {
    method: 'GET',
    path: '/v1/rbac/check',
    status: [200],
    summary: 'Ask whether somebody may do something',
    document: `query PermissionCheck($userId: ID, $permission: String!, $brandId: ID) {
      result: permissionCheck(userId: $userId, permission: $permission, brandId: $brandId) {
        userId permission allowed reason matched { assignmentId role permission }
      }
    }`,
    variables: { userId: query('user_id'), permission: query('permission'), brandId: query('brand_id') },
  },
  {
    method: 'POST',
    path: '/v1/rbac/assignments',
    status: [201, 200],
    summary: 'Give somebody a role',
    document: `mutation AssignRole($input: AssignRoleInput!) { result: assignRole(input: $input) { ${ASSIGNMENT} } }`,
    variables: { input: body() },
    problems: { 403: 'The role holds a permission that the caller lacks, or is for the caller' },
  },
  {
    method: 'POST',
    path: '/v1/rbac/assignments/revoke',
    status: [200],
    summary: 'Take a role away',
    document: `mutation RevokeRole($input: RevokeRoleInput!) { result: revokeRole(input: $input) { ${ASSIGNMENT} } }`,
    variables: { input: body() },
    problems: { 409: 'The last active owner' },
  },
];

export default routes;
