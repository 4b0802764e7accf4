import { input, path, type Route } from '../../route.js';

const PROFILE = 'handle displayName bio pronouns location websiteUrl avatarUrl avatarVersions { size url } visibility joinedOn';

const SETTINGS = `locale timeZone unitSystem timeFormat weekStart theme discoverableByEmail showActivity directMessages
  marketingConsent { granted at source } version`;

const ADMIN_USER = `id status email emailVerified phone mfaEnabled profile { ${PROFILE} } brandId lastSignInAt createdAt updatedAt erasedAt version`;

const GONE = 'No such user, or the profile may not be seen';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/users',
    status: [200],
    summary: 'List accounts',
    document: `query Users($filter: UserFilter, $first: Int, $after: String) {
      result: users(filter: $filter, first: $first, after: $after) { nodes { ${ADMIN_USER} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { filter: input({ body: false, query: ['q', 'status', 'brand_id', 'created_after', 'created_before'] }) },
  },
  {
    method: 'GET',
    path: '/v1/admin/users/lookup',
    status: [200],
    summary: 'Find an account by exactly one of its identifiers',
    document: `query UserLookup($by: UserLookupInput!) { result: userLookup(by: $by) { ${ADMIN_USER} } }`,
    variables: { by: input({ body: false, query: ['email', 'phone', 'handle', 'external_provider', 'external_id'] }) },
  },
  {
    method: 'GET',
    path: '/v1/admin/users/{user_id}',
    status: [200],
    summary: 'Read an account',
    document: `query AdminUser($id: ID!) { result: adminUser(id: $id) { ${ADMIN_USER} } }`,
    variables: { id: path('user_id') },
  },
  {
    method: 'GET',
    path: '/v1/admin/users/{user_id}/settings',
    status: [200],
    summary: "Read an account's settings",
    document: `query AdminUserSettings($id: ID!) { adminUser(id: $id) { result: settings { ${SETTINGS} } } }`,
    variables: { id: path('user_id') },
  },
  {
    method: 'GET',
    path: '/v1/users/me',
    status: [200],
    summary: 'Read the own account',
    document: `query Me {
      result: me { id status: accountStatus profile { ${PROFILE} } email emailVerified phone mfaEnabled brandId createdAt }
    }`,
    omitNull: ['status', 'email', 'email_verified', 'phone', 'mfa_enabled'],
    example: {
      response: {
        id: '0190b3a0-0000-7000-8000-0000000000a1',
        status: 'active',
        profile: {
          handle: 'mara_k',
          display_name: 'Mara K',
          bio: null,
          pronouns: null,
          location: null,
          website_url: null,
          avatar_url: null,
          avatar_versions: [],
          visibility: 'members',
          joined_on: '2026-01-01',
        },
        email: 'demo@example.test',
        email_verified: true,
        mfa_enabled: false,
        brand_id: null,
        created_at: '2026-01-05T09:30:00.000Z',
      },
    },
  },
  {
    method: 'GET',
    path: '/v1/users/me/settings',
    status: [200],
    summary: 'Read the own settings',
    document: `query MySettings { me { result: settings { ${SETTINGS} } } }`,
  },
  {
    method: 'GET',
    path: '/v1/users/by-handle/{handle}',
    status: [200],
    summary: 'Read a profile by handle',
    document: `query UserByHandle($handle: String!) { userByHandle(handle: $handle) { result: profile { ${PROFILE} } } }`,
    variables: { handle: path('handle') },
    problems: { 404: GONE },
  },
  {
    method: 'GET',
    path: '/v1/users/{user_id}/profile',
    status: [200],
    summary: 'Read a profile',
    document: `query UserProfile($id: ID!) { user(id: $id) { result: profile { ${PROFILE} } } }`,
    variables: { id: path('user_id') },
    problems: { 404: GONE },
  },
];

export default routes;
