import { body, input, path, query, type Route } from '../../route.js';

const PROFILE = 'handle displayName bio pronouns location websiteUrl avatarUrl avatarVersions { size url } visibility joinedOn';

const SETTINGS = `locale timeZone unitSystem timeFormat weekStart theme discoverableByEmail showActivity directMessages
  marketingConsent { granted at source } version`;

const ADDRESS = `id label recipient phone address { line1 line2 city region postalCode countryCode } isDefaultShipping isDefaultBilling validated
  createdAt updatedAt version`;

const BADGE = 'badge { key name description iconUrl tier } awardedAt source expiresAt';

const ADMIN_USER = `id status email emailVerified phone mfaEnabled profile { ${PROFILE} } brandId lastSignInAt createdAt updatedAt erasedAt version`;

const addresses: Route[] = [
  {
    method: 'GET',
    path: '/v1/users/me/addresses',
    status: [200],
    summary: 'List the own addresses',
    document: `query MyAddresses($first: Int, $after: String) {
      me { result: addresses(first: $first, after: $after) { nodes { ${ADDRESS} } pageInfo { endCursor hasNextPage } } }
    }`,
  },
  {
    method: 'POST',
    path: '/v1/users/me/addresses',
    status: [201],
    summary: 'Add an address',
    document: `mutation AddMyAddress($input: AddUserAddressInput!) { result: addUserAddress(input: $input) { ${ADDRESS} } }`,
    variables: { input: body() },
    problems: { 409: 'There are twenty addresses already' },
    example: {
      request: { recipient: 'Mara K', address: { line1: 'Main Street 1', city: 'Berlin', postal_code: '10115', country_code: 'DE' } },
    },
  },
  {
    method: 'PATCH',
    path: '/v1/users/me/addresses/{address_id}',
    status: [200],
    summary: 'Change an address',
    document: `mutation UpdateMyAddress($input: UpdateUserAddressInput!) { result: updateUserAddress(input: $input) { ${ADDRESS} } }`,
    variables: { input: input({ path: { address_id: 'id' } }) },
    problems: { 409: 'It was changed meanwhile' },
  },
  {
    method: 'DELETE',
    path: '/v1/users/me/addresses/{address_id}',
    status: [204],
    summary: 'Remove an address',
    document: 'mutation DeleteMyAddress($id: ID!) { result: deleteUserAddress(id: $id) { id } }',
    variables: { id: path('address_id') },
  },
  {
    method: 'POST',
    path: '/v1/users/me/addresses/{address_id}/set-default',
    status: [200],
    summary: 'Make an address the default',
    document: `mutation SetMyDefaultAddress($input: SetDefaultUserAddressInput!) { result: setDefaultUserAddress(input: $input) { ${ADDRESS} } }`,
    variables: { input: input({ path: { address_id: 'id' } }) },
    example: { request: { kind: 'both' } },
  },
];

const profile: Route[] = [
  {
    method: 'PATCH',
    path: '/v1/users/me/profile',
    status: [200],
    summary: 'Change the own profile',
    document: `mutation UpdateMyProfile($input: UpdateMyProfileInput!) { updateMyProfile(input: $input) { result: profile { ${PROFILE} } } }`,
    variables: { input: body() },
    problems: { 409: 'The handle is taken, or was changed less than 30 days ago' },
    example: { request: { display_name: 'Mara K', bio: null } },
  },
  {
    method: 'POST',
    path: '/v1/users/me/avatar',
    status: [200],
    summary: 'Change or remove the own picture',
    document: `mutation SetMyAvatar($input: SetMyAvatarInput!) { setMyAvatar(input: $input) { result: profile { ${PROFILE} } } }`,
    variables: { input: body() },
    bodyLimit: 7 * 1024 * 1024, // 5 MiB in base64
    upload: { field: 'file', maxBytes: 5 * 1024 * 1024 },
    problems: { 413: 'More than 5 MiB', 415: 'Not JPEG, PNG, WebP, GIF or AVIF', 429: 'More than ten addresses an hour' },
    example: { request: { url: 'https://images.example.com/mara.jpg' } },
  },
  {
    method: 'PATCH',
    path: '/v1/users/me/settings',
    status: [200],
    summary: 'Change the own settings',
    document: `mutation UpdateMySettings($input: UpdateMySettingsInput!) { result: updateMySettings(input: $input) { ${SETTINGS} } }`,
    variables: { input: body() },
    problems: { 409: 'They were changed meanwhile' },
    example: { request: { theme: 'dark', unit_system: 'metric' } },
  },
  {
    method: 'GET',
    path: '/v1/users/handle-available',
    status: [200],
    summary: 'Ask whether a handle can be had',
    document:
      'query HandleAvailable($handle: String!) { result: handleAvailability(handle: $handle) { handle available reason suggestions } }',
    variables: { handle: query('handle') },
  },
  {
    method: 'GET',
    path: '/v1/users/{user_id}/badges',
    status: [200],
    summary: "List a user's badges",
    document: `query UserBadges($id: ID!) { user(id: $id) { result: badges { ${BADGE} } } }`,
    variables: { id: path('user_id') },
  },
];

const accounts: Route[] = [
  {
    method: 'POST',
    path: '/v1/admin/users',
    status: [201],
    location: '/v1/admin/users/{id}',
    summary: 'Make an account',
    document: `mutation CreateUser($input: CreateUserInput!) { result: createUser(input: $input) { ${ADMIN_USER} } }`,
    variables: { input: body() },
    problems: { 409: 'There is an account with this e-mail address' },
    example: { request: { email: 'mara@example.test', display_name: 'Mara K', locale: 'de' } },
  },
];

const routes: Route[] = [...addresses, ...profile, ...accounts];

export default routes;
