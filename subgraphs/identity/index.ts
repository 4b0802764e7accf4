import { clockControl } from '../../runtime/test-controls.js';
import { service } from '../../runtime/service.js';
import { loadSessions, SessionResolver, UserSessionsResolver } from './resolver/session.js';
import { SessionVerificationResolver } from './resolver/session-verification.js';
import { loadIssued, loadServiceTokens, ServiceTokenResolver } from './resolver/service-token.js';
import { AuthSession } from './entities/session.js';
import { ServiceToken } from './entities/service-token.js';
import { StaffFieldResolver, UserStaffResolver } from './resolver/user-staff.js';
import { loadAssignments, loadRoles, loadStaff } from './resolver/staff-references.js';
import { RoleResolver } from './resolver/role.js';
import { ModerationHistoryResolver, ModerationResolver, suspensions } from './resolver/moderation.js';
import { ClientSecretRotationResolver, loadRotations } from './resolver/client-secret.js';
import { agreementExpiry, ClientAgreementAdministrationResolver } from './resolver/client-agreement.js';
import { ClientAdministrationResolver } from './resolver/client-administration.js';
import { Role, RoleAssignment, StaffMember } from './entities/staff.js';
import { ModerationAction } from './entities/moderation.js';
import { UserAddress } from './entities/address.js';
import { Badge, UserBadge } from './entities/badge.js';
import { ErasureRequest, ErasureTask } from './entities/erasure.js';
import { OAuthClient, OAuthClientAgreement, OAuthClientSecret } from './entities/client.js';
import { MfaMethod } from './entities/mfa.js';
import { OAuthGrant } from './entities/grant.js';
import { UserSettings } from './entities/settings.js';
import { CredentialPassword, User, UserEmail, UserProfile } from './entities/user.js';
import { erase } from './resolver/erasure.js';
import { keyringOf } from './ports/oidc-provider/keyring.js';
import { mountEngine } from './ports/oidc-provider/mount.js';
import { nativePaths } from './ports/oidc-provider/paths.js';
import { AddressResolver, loadAddresses } from './resolver/address.js';
import { BadgeResolver, loadBadges } from './resolver/badge.js';
import { CreateUserResolver } from './resolver/create-user.js';
import { ErasureRequestResolver, loadErasureRequests } from './resolver/erasure-request.js';
import { erasureTimers } from './resolver/erasure-timers.js';
import { loadMfaMethods, MfaResolver } from './resolver/mfa.js';
import { HandleResolver } from './resolver/handle.js';
import { ProfileResolver } from './resolver/profile.js';
import { AccountResolver } from './resolver/accounts.js';
import { ClientAgreementResolver, ClientResolver, ClientSecretResolver } from './resolver/client.js';
import { GrantResolver } from './resolver/grant.js';
import { loadClients, loadGrants, loadUsers } from './resolver/reference-loaders.js';
import { RevocationResolver } from './resolver/revocation.js';
import { UserFieldResolver } from './resolver/user-fields.js';
import { refuseSeeds, seed } from './resolver/seed.js';
import { timers } from './resolver/timers.js';

export { mintUserToken, type MintOptions } from './ports/oidc-provider/mint.js';

export default service({
  slug: 'identity',
  purpose: 'User accounts, OAuth clients, consent, tokens and their revocation.',
  entities: [
    ServiceToken,
    AuthSession,
    StaffMember,
    RoleAssignment,
    Role,
    ModerationAction,
    User,
    UserEmail,
    UserProfile,
    UserSettings,
    CredentialPassword,
    OAuthClient,
    OAuthClientSecret,
    OAuthClientAgreement,
    OAuthGrant,
    UserAddress,
    Badge,
    UserBadge,
    ErasureRequest,
    ErasureTask,
    MfaMethod,
  ],
  resolvers: [
    SessionVerificationResolver,
    ServiceTokenResolver,
    UserSessionsResolver,
    SessionResolver,
    UserStaffResolver,
    StaffFieldResolver,
    RoleResolver,
    ModerationResolver,
    ModerationHistoryResolver,
    ClientSecretRotationResolver,
    ClientAgreementAdministrationResolver,
    ClientAdministrationResolver,
    AccountResolver,
    UserFieldResolver,
    ClientResolver,
    ClientSecretResolver,
    ClientAgreementResolver,
    GrantResolver,
    RevocationResolver,
    AddressResolver,
    BadgeResolver,
    CreateUserResolver,
    ErasureRequestResolver,
    MfaResolver,
    HandleResolver,
    ProfileResolver,
    clockControl('identity'),
  ],
  references: {
    IssuedServiceToken: loadIssued,
    ServiceToken: loadServiceTokens,
    AuthSession: loadSessions,
    StaffMember: loadStaff,
    RoleAssignment: loadAssignments,
    Role: loadRoles,
    RotatedOAuthClientSecret: loadRotations,
    User: loadUsers,
    UserAddress: loadAddresses,
    Badge: loadBadges,
    ErasureRequest: loadErasureRequests, MfaMethod: loadMfaMethods,
    OAuthClient: loadClients,
    OAuthGrant: loadGrants,
  },
  timers: [suspensions, agreementExpiry, ...timers, ...erasureTimers],
  seed,
  erase,
  native: async (app, host) => {
    await refuseSeeds(host);
    await mountEngine(app, host);
  },
  nativePaths,
  ready: async host => ({ signing_key: await keyringOf(host).usable() }),
});
