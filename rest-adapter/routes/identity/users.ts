import { del, get, patch, post, type Route } from '../../route.js';

const PROFILE = 'handle displayName bio pronouns location websiteUrl avatarUrl avatarVersions { size url } visibility joinedOn';
const SETTINGS = `locale timeZone timeZoneSetAt unitSystem timeFormat weekStart theme discoverableByEmail showActivity directMessages
  marketingConsent { granted at source } version`;
const ADMIN_USER = `id status email emailVerified phone mfaEnabled profile { ${PROFILE} } brandId lastSignInAt createdAt updatedAt
  erasedAt version`;
const ME = `id status: accountStatus profile { ${PROFILE} } email emailVerified phone phoneVerified mfaEnabled brandId createdAt`;
const ADDRESS = `id label recipient phone address { line1 line2 city region postalCode countryCode } isDefaultShipping isDefaultBilling
  validated createdAt updatedAt version`;
const BADGE = 'badge { key name description iconUrl tier } awardedAt source expiresAt';

const MIB = 1024 * 1024;
const GONE = { 404: 'No such user, or the profile may not be seen' };

const ME_EXAMPLE = {
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
  phone_verified: false,
  mfa_enabled: false,
  brand_id: null,
  created_at: '2026-01-05T09:30:00.000Z',
};

const users: Route[] = [
  get('/v1/admin/users', 'users', ADMIN_USER, 'List accounts'),
  get('/v1/admin/users/lookup', 'userLookup', ADMIN_USER, 'Find an account by exactly one of its identifiers'),
  get('/v1/admin/users/{user_id}', 'adminUser', ADMIN_USER, 'Read an account', { path: { user_id: 'id' } }),
  get('/v1/admin/users/{user_id}/settings', 'adminUser.settings', SETTINGS, "Read an account's settings", { path: { user_id: 'id' } }),
  get('/v1/users/me', 'me', ME, 'Read the own account', {
    omitNull: ['status', 'email', 'email_verified', 'phone', 'phone_verified', 'mfa_enabled'],
    example: { response: ME_EXAMPLE },
  }),
  get('/v1/users/me/settings', 'me.settings', SETTINGS, 'Read the own settings'),
  get('/v1/users/by-handle/{handle}', 'userByHandle.profile', PROFILE, 'Read a profile by handle', { as: 'userByHandle', problems: GONE }),
  get('/v1/users/{user_id}/profile', 'user.profile', PROFILE, 'Read a profile', { path: { user_id: 'id' }, problems: GONE }),
];

const addresses: Route[] = [
  get('/v1/users/me/addresses', 'me.addresses', ADDRESS, 'List the own addresses'),
  post('/v1/users/me/addresses', 'addUserAddress', ADDRESS, 'Add an address', {
    as: 'addMyAddress',
    status: 201,
    problems: { 409: 'There are twenty addresses already' },
    example: {
      request: { recipient: 'Mara K', address: { line1: 'Main Street 1', city: 'Berlin', postal_code: '10115', country_code: 'DE' } },
    },
  }),
  patch('/v1/users/me/addresses/{address_id}', 'updateUserAddress', ADDRESS, 'Change an address', {
    as: 'updateMyAddress',
    path: { address_id: 'id' },
    problems: { 409: 'It was changed meanwhile' },
  }),
  del('/v1/users/me/addresses/{address_id}', 'deleteUserAddress', 'id', 'Remove an address', {
    as: 'deleteMyAddress',
    path: { address_id: 'id' },
  }),
  post('/v1/users/me/addresses/{address_id}/set-default', 'setDefaultUserAddress', ADDRESS, 'Make an address the default', {
    as: 'setMyDefaultAddress',
    path: { address_id: 'id' },
    example: { request: { kind: 'both' } },
  }),
];

const profile: Route[] = [
  patch('/v1/users/me/profile', 'updateMyProfile.profile', PROFILE, 'Change the own profile', {
    problems: { 409: 'The handle is taken, or was changed less than 30 days ago' },
    example: { request: { display_name: 'Mara K', bio: null } },
  }),
  post('/v1/users/me/avatar', 'setMyAvatar.profile', PROFILE, 'Change or remove the own picture', {
    bodyLimit: 7 * MIB, // in base64
    upload: { field: 'file', maxBytes: 5 * MIB },
    problems: { 413: 'More than 5 MiB', 415: 'Not JPEG, PNG, WebP, GIF or AVIF', 429: 'More than ten addresses an hour' },
    example: { request: { url: 'https://images.example.com/mara.jpg' } },
  }),
  patch('/v1/users/me/settings', 'updateMySettings', SETTINGS, 'Change the own settings', {
    problems: { 409: 'They were changed meanwhile' },
    example: { request: { theme: 'dark', unit_system: 'metric' } },
  }),
  get('/v1/users/handle-available', 'handleAvailability', 'handle available reason suggestions', 'Ask whether a handle can be had', {
    as: 'handleAvailable',
  }),
  get('/v1/users/{user_id}/badges', 'user.badges', BADGE, "List a user's badges", { path: { user_id: 'id' } }),
];

const accounts: Route[] = [
  post('/v1/admin/users', 'createUser', ADMIN_USER, 'Make an account', {
    status: 201,
    problems: { 409: 'There is an account with this e-mail address' },
    example: { request: { email: 'mara@example.test', display_name: 'Mara K', locale: 'de' } },
  }),
];

const CHALLENGE = 'challengeId sentTo expiresAt';
const CONFIRMED = 'id status: accountStatus email emailVerified';

const emailChange: Route[] = [
  post('/v1/users/me/email-change-request', 'requestEmailChange', CHALLENGE, 'Ask for another e-mail address', {
    status: 202,
    problems: { 429: 'Three times an hour' },
    example: {
      request: { new_email: 'new@example.test' },
      response: {
        challenge_id: '0190b3a0-1111-7000-8000-000000000004',
        sent_to: 'n•••@example.test',
        expires_at: '2026-01-05T10:00:00.000Z',
      },
    },
  }),
  post('/v1/users/me/email-change-confirm', 'confirmEmailChange', CONFIRMED, 'Confirm the new e-mail address by its code', {
    problems: { 409: 'The request is expired or exhausted, or the address was taken meanwhile' },
    example: {
      request: { challenge_id: '0190b3a0-1111-7000-8000-000000000004', code: '408213' },
      response: { id: '0190b3a0-0000-7000-8000-0000000000a1', status: 'active', email: 'new@example.test', email_verified: true },
    },
  }),
];

const phone: Route[] = [
  post('/v1/users/me/phone/verify', 'requestPhoneVerification', CHALLENGE, 'Ask for a code by text message', {
    status: 202,
    problems: { 429: 'Three times in 15 minutes for a number, five times an hour for an account, ten times for a network' },
    example: {
      request: { phone: '+15550100042' },
      response: {
        challenge_id: '0190b3a0-1111-7000-8000-000000000005',
        sent_to: '+1•••••42',
        expires_at: '2026-01-05T09:40:00.000Z',
      },
    },
  }),
  post(
    '/v1/users/me/phone/confirm',
    'confirmPhone',
    'id status: accountStatus phone phoneVerified',
    'Confirm the phone number by its code',
    {
      problems: { 409: 'The request is expired or exhausted' },
      example: {
        request: { challenge_id: '0190b3a0-1111-7000-8000-000000000005', code: '408213' },
        response: { id: '0190b3a0-0000-7000-8000-0000000000a1', status: 'active', phone: '+15550100042', phone_verified: true },
      },
    },
  ),
  del('/v1/users/me/phone', 'removePhone', 'id', 'Remove the own phone number'),
];

const ENTITLEMENTS = `userId features { key access reason value limit used remaining resetsAt source endsAt } version computedAt
  validUntil`;
const CHECK = 'key allowed reason remaining resetsAt validUntil isFallback';
const UNREACHABLE = { 503: 'Entitlements cannot be reached' };

/** Operations of entitlements under a path of identity; their rules hold here too. Source: identity 4. */
const entitlements: Route[] = [
  get('/v1/entitlements/{user_id}', 'entitlements', ENTITLEMENTS, 'What a user may use', {
    as: 'userEntitlements',
    etag: true,
    problems: UNREACHABLE,
  }),
  get('/v1/entitlements/{user_id}/check/{product_key}', 'checkEntitlement', CHECK, 'Whether a user may use a feature or product', {
    as: 'checkUserEntitlement',
    path: { product_key: 'key' },
    problems: UNREACHABLE,
  }),
];

export default [...users, ...addresses, ...profile, ...accounts, ...emailChange, ...phone, ...entitlements];
