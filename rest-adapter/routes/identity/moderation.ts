import { input, path, type Route } from '../../route.js';

const MODERATION = 'status since until reasonCode history { id kind reasonCode note until actor at }';

const USER = `id moderation { ${MODERATION} } updatedAt version`;

const concerning = { input: input({ path: ['user_id'] }) };

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/users/{user_id}/moderation',
    status: [200],
    summary: 'Read how an account stands, and what was done to it',
    document: `query UserModeration($id: ID!) { result: userModeration(userId: $id) { ${MODERATION} } }`,
    variables: { id: path('user_id') },
  },
  {
    method: 'POST',
    path: '/v1/admin/users/{user_id}/ban',
    status: [200],
    summary: 'Close an account for good',
    document: `mutation BanUser($input: BanUserInput!) { result: banUser(input: $input) { ${USER} } }`,
    variables: concerning,
    problems: { 409: 'Banned already, the last active owner, or being erased' },
  },
  {
    method: 'POST',
    path: '/v1/admin/users/{user_id}/suspend',
    status: [200],
    summary: 'Close an account for a while',
    document: `mutation SuspendUser($input: SuspendUserInput!) { result: suspendUser(input: $input) { ${USER} } }`,
    variables: concerning,
    problems: { 409: 'Not active, the last active owner, or being erased' },
  },
  {
    method: 'POST',
    path: '/v1/admin/users/{user_id}/reinstate',
    status: [200],
    summary: 'Open a closed account',
    document: `mutation ReinstateUser($input: ReinstateUserInput!) { result: reinstateUser(input: $input) { ${USER} } }`,
    variables: concerning,
    problems: { 409: 'Not closed' },
  },
];

export default routes;
