import { consumers } from './consumers/badges.js';
import { service } from '../../runtime/service.js';
import { loadSessions, SessionResolver, UserSessionsResolver } from './resolvers/session.js';
import { SessionVerificationResolver } from './resolvers/session-verification.js';
import { loadIssued, loadServiceTokens, ServiceTokenResolver } from './resolvers/service-token.js';
import { AuthSession } from './entities/session.js';
import { ServiceToken } from './entities/service-token.js';
import { StaffFieldResolver, UserStaffResolver } from './resolvers/user-staff.js';
import { loadAssignments, loadRoles, loadStaff } from './queries/staff-references.js';
import { StaffResolver } from './resolvers/staff.js';
import { StaffAdministrationResolver } from './resolvers/staff-administration.js';
import { invitations, StaffInvitationResolver } from './resolvers/staff-invitation.js';
import { CrmSyncResolver } from './resolvers/crm-sync.js';
import { RoleResolver } from './resolvers/role.js';
import { ModerationHistoryResolver, ModerationResolver, suspensions } from './resolvers/moderation.js';
import { ClientSecretRotationResolver, loadRotations } from './resolvers/client-secret.js';
import { agreementExpiry, ClientAgreementAdministrationResolver } from './resolvers/client-agreement.js';
import { ClientAdministrationResolver } from './resolvers/client-administration.js';
import { Role, RoleAssignment, StaffMember } from './entities/staff.js';
import { ModerationAction } from './entities/moderation.js';
import { UserAddress } from './entities/address.js';
import { Badge, UserBadge } from './entities/badge.js';
import { ErasureRequest, ErasureTask } from './entities/erasure.js';
import { OAuthClient, OAuthClientAgreement, OAuthClientSecret } from './entities/client.js';
import { AuthChallenge } from './entities/challenge.js';
import { CrmChange } from './entities/crm-sync.js';
import { MfaMethod } from './entities/mfa.js';
import { SsoPartner } from './entities/sso.js';
import { OAuthGrant } from './entities/grant.js';
import { UserSettings } from './entities/settings.js';
import { CredentialPassword, User, UserEmail, UserProfile } from './entities/user.js';
import { erase } from './erase.js';
import { keyringOf } from './ports/keyring.js';
import { mountIdpAuthEmails } from './native/idp-auth-emails.js';
import { mountEngine } from './native/oidc-provider/mount.js';
import { avatarPaths, serveAvatars } from './native/avatars.js';
import { nativePaths } from './native/oidc-provider/paths.js';
import { AuditResolver } from './resolvers/audit.js';
import { AuthDeliveryResolver } from './resolvers/auth-delivery.js';
import { AddressResolver, loadAddresses } from './resolvers/address.js';
import { EmailChangeResolver } from './resolvers/email-change.js';
import { PasswordResolver } from './resolvers/change-password.js';
import { BadgeResolver, loadBadges } from './resolvers/badge.js';
import { CreateUserResolver } from './resolvers/create-user.js';
import { ErasureRequestResolver, loadErasureRequests } from './resolvers/erasure-request.js';
import { erasureTimers } from './timers/erasure-timers.js';
import { loadMfaMethods, MfaResolver } from './resolvers/mfa.js';
import { HandleResolver } from './resolvers/handle.js';
import { ProfileResolver } from './resolvers/profile.js';
import { AccountResolver } from './resolvers/accounts.js';
import { BrandClientsResolver, ClientAgreementResolver, ClientResolver, ClientSecretResolver } from './resolvers/client.js';
import { ConnectedAppResolver } from './resolvers/connected-app.js';
import { AvatarResolver } from './resolvers/avatar.js';
import { PartnerSsoResolver } from './resolvers/partner-sso.js';
import { GrantResolver } from './resolvers/grant.js';
import { loadClients, loadGrants, loadUsers } from './queries/reference-loaders.js';
import { RevocationResolver } from './resolvers/revocation.js';
import { UserFieldResolver } from './resolvers/user-fields.js';
import { refuseSeeds, seed } from './seed.js';
import { timers } from './timers/timers.js';

export { mintUserToken, type MintOptions } from './native/oidc-provider/mint.js';

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
    AuthChallenge,
    CrmChange,
    MfaMethod,
    SsoPartner,
  ],
  resolvers: [
    SessionVerificationResolver,
    ServiceTokenResolver,
    UserSessionsResolver,
    SessionResolver,
    UserStaffResolver,
    StaffFieldResolver,
    StaffResolver,
    StaffAdministrationResolver,
    StaffInvitationResolver,
    CrmSyncResolver,
    RoleResolver,
    ModerationResolver,
    ModerationHistoryResolver,
    ClientSecretRotationResolver,
    ClientAgreementAdministrationResolver,
    ClientAdministrationResolver,
    AccountResolver,
    UserFieldResolver,
    BrandClientsResolver,
    ClientResolver,
    ClientSecretResolver,
    ClientAgreementResolver,
    GrantResolver,
    ConnectedAppResolver,
    PartnerSsoResolver,
    AvatarResolver,
    RevocationResolver,
    AddressResolver,
    AuditResolver,
    AuthDeliveryResolver,
    EmailChangeResolver,
    PasswordResolver,
    BadgeResolver,
    CreateUserResolver,
    ErasureRequestResolver,
    MfaResolver,
    HandleResolver,
    ProfileResolver,
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
    ErasureRequest: loadErasureRequests,
    MfaMethod: loadMfaMethods,
    Brand: async (_ctx, references) => [...references],
    OAuthClient: loadClients,
    OAuthGrant: loadGrants,
  },
  consumers,
  timers: [suspensions, invitations, agreementExpiry, ...timers, ...erasureTimers],
  seed,
  erase,
  native: async (app, host) => {
    await refuseSeeds(host);
    await mountEngine(app, host);
    serveAvatars(app, host);
    await mountIdpAuthEmails(app, host);
  },
  nativePaths: [...nativePaths, ...avatarPaths],
  ready: async host => ({ signing_key: await keyringOf(host).usable() }),
});
