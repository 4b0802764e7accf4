import { consumers } from './consumers/badges.js';
import { clockControl } from '../../runtime/test-controls.js';
import { service } from '../../runtime/service.js';
import { loadSessions, SessionResolver, UserSessionsResolver } from './resolver/session.js';
import { SessionVerificationResolver } from './resolver/session-verification.js';
import { loadIssued, loadServiceTokens, ServiceTokenResolver } from './resolver/service-token.js';
import { AuthSession } from './entities/session.js';
import { ServiceToken } from './entities/service-token.js';
import { StaffFieldResolver, UserStaffResolver } from './resolver/user-staff.js';
import { loadAssignments, loadRoles, loadStaff } from './resolver/staff-references.js';
import { StaffResolver } from './resolver/staff.js';
import { StaffAdministrationResolver } from './resolver/staff-administration.js';
import { invitations, StaffInvitationResolver } from './resolver/staff-invitation.js';
import { CrmSyncResolver } from './resolver/crm-sync.js';
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
import { AuthChallenge } from './entities/challenge.js';
import { CrmChange } from './entities/crm-sync.js';
import { MfaMethod } from './entities/mfa.js';
import { SsoPartner } from './entities/sso.js';
import { OAuthGrant } from './entities/grant.js';
import { UserSettings } from './entities/settings.js';
import { CredentialPassword, User, UserEmail, UserProfile } from './entities/user.js';
import { erase } from './resolver/erasure.js';
import { keyringOf } from './ports/oidc-provider/keyring.js';
import { mountIdpAuthEmails } from './native/idp-auth-emails.js';
import { mountEngine } from './ports/oidc-provider/mount.js';
import { avatarPaths, serveAvatars } from './native/avatars.js';
import { nativePaths } from './ports/oidc-provider/paths.js';
import { AuditResolver } from './resolver/audit.js';
import { AuthDeliveryResolver } from './resolver/auth-delivery.js';
import { AddressResolver, loadAddresses } from './resolver/address.js';
import { EmailChangeResolver } from './resolver/email-change.js';
import { PasswordResolver } from './resolver/change-password.js';
import { BadgeResolver, loadBadges } from './resolver/badge.js';
import { CreateUserResolver } from './resolver/create-user.js';
import { ErasureRequestResolver, loadErasureRequests } from './resolver/erasure-request.js';
import { erasureTimers } from './resolver/erasure-timers.js';
import { loadMfaMethods, MfaResolver } from './resolver/mfa.js';
import { HandleResolver } from './resolver/handle.js';
import { ProfileResolver } from './resolver/profile.js';
import { AccountResolver } from './resolver/accounts.js';
import { BrandClientsResolver, ClientAgreementResolver, ClientResolver, ClientSecretResolver } from './resolver/client.js';
import { ConnectedAppResolver } from './resolver/connected-app.js';
import { AvatarResolver } from './resolver/avatar.js';
import { PartnerSsoResolver } from './resolver/partner-sso.js';
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
