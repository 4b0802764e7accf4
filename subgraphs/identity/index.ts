import { service } from '../../runtime/service.js';
import { keepInternalClients } from './commands/internal-clients.js';
import { consumers } from './consumers.js';
import { UserAddress } from './entities/address.js';
import { Badge, UserBadge } from './entities/badge.js';
import { AuthChallenge } from './entities/challenge.js';
import { OAuthClientAgreement } from './entities/client-agreement.js';
import { OAuthClientSecret } from './entities/client-secret.js';
import { OAuthClient } from './entities/client.js';
import { CrmChange } from './entities/crm-sync.js';
import { ErasureRequest, ErasureTask } from './entities/erasure.js';
import { OAuthGrant } from './entities/grant.js';
import { MfaMethod } from './entities/mfa.js';
import { ModerationAction } from './entities/moderation.js';
import { Role, RoleAssignment } from './entities/role.js';
import { ServiceToken } from './entities/service-token.js';
import { AuthSession } from './entities/session.js';
import { UserSettings } from './entities/settings.js';
import { SsoPartner } from './entities/sso.js';
import { StaffMember } from './entities/staff.js';
import { CredentialPassword, User, UserEmail, UserProfile } from './entities/user.js';
import { erase } from './erase.js';
import { avatarPaths, serveAvatars } from './native/avatars.js';
import { serveHome } from './native/home.js';
import { idpAuthEmailPaths, mountIdpAuthEmails } from './native/idp-auth-emails.js';
import { mountEngine } from './native/oidc-provider/mount.js';
import { oauthPaths } from './native/oidc-provider/paths.js';
import { keyringOf } from './ports/keyring.js';
import { references } from './references.js';
import { AddressResolver } from './resolvers/address.js';
import { AuditResolver } from './resolvers/audit.js';
import { AuthDeliveryResolver } from './resolvers/auth-delivery.js';
import { BadgeResolver } from './resolvers/badge.js';
import { ClientAdministrationResolver } from './resolvers/client-administration.js';
import { BrandClientsResolver, ClientAgreementResolver, ClientResolver, ClientSecretResolver } from './resolvers/client.js';
import { CredentialResolver } from './resolvers/credential.js';
import { CrmSyncResolver } from './resolvers/crm-sync.js';
import { ErasureRequestResolver } from './resolvers/erasure.js';
import { GrantResolver, UserGrantsResolver } from './resolvers/grant.js';
import { MfaResolver } from './resolvers/mfa.js';
import { ModerationHistoryResolver, ModerationResolver } from './resolvers/moderation.js';
import { ProfileResolver } from './resolvers/profile.js';
import { ClientOriginsResolver } from './resolvers/client-origins.js';
import { RevocationResolver } from './resolvers/revocation.js';
import { RoleResolver } from './resolvers/role.js';
import { ServiceTokenResolver } from './resolvers/service-token.js';
import { SessionResolver, UserSessionsResolver } from './resolvers/session.js';
import { PartnerSsoResolver } from './resolvers/sso.js';
import { StaffAdministrationResolver } from './resolvers/staff-administration.js';
import { StaffResolver, UserStaffResolver } from './resolvers/staff.js';
import { UserFieldResolver } from './resolvers/user-fields.js';
import { UserResolver } from './resolvers/user.js';
import { refuseSeeds, seed } from './seed.js';
import { accountTimers } from './timers/accounts.js';
import { erasureTimers } from './timers/erasure.js';
import { tokenTimers } from './timers/tokens.js';

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
    UserResolver,
    UserFieldResolver,
    ProfileResolver,
    AddressResolver,
    BadgeResolver,
    CredentialResolver,
    MfaResolver,
    SessionResolver,
    UserSessionsResolver,
    GrantResolver,
    UserGrantsResolver,
    ClientResolver,
    ClientSecretResolver,
    ClientAgreementResolver,
    BrandClientsResolver,
    ClientAdministrationResolver,
    ServiceTokenResolver,
    ClientOriginsResolver,
    RevocationResolver,
    RoleResolver,
    StaffResolver,
    UserStaffResolver,
    StaffAdministrationResolver,
    ModerationResolver,
    ModerationHistoryResolver,
    ErasureRequestResolver,
    AuthDeliveryResolver,
    PartnerSsoResolver,
    AuditResolver,
    CrmSyncResolver,
  ],
  references,
  consumers,
  timers: [...accountTimers, ...tokenTimers, ...erasureTimers],
  seed,
  erase,
  native: async (app, host) => {
    await refuseSeeds(host);
    await keepInternalClients(host);
    await mountEngine(app, host);
    serveHome(app, host);
    serveAvatars(app, host);
    await mountIdpAuthEmails(app, host);
  },
  nativePaths: [...oauthPaths, ...idpAuthEmailPaths, ...avatarPaths],
  ready: async host => ({ signing_key: await keyringOf(host).usable() }),
});
