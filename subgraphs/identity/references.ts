import { inOrder } from '../../runtime/data/loaders.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import { rowsBy } from '../../runtime/data/rows.js';
import { holdsPermission, isStaff } from '../../runtime/request/caller.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { rotationOf } from './commands/client-secret.js';
import { withoutValue } from './commands/service-token.js';
import { UserAddress } from './entities/address.js';
import { Badge } from './entities/badge.js';
import { OAuthClientSecret, type RotatedOAuthClientSecret } from './entities/client-secret.js';
import { OAuthClient } from './entities/client.js';
import { ErasureRequest } from './entities/erasure.js';
import { OAuthGrant } from './entities/grant.js';
import { MfaMethod } from './entities/mfa.js';
import { Role, RoleAssignment } from './entities/role.js';
import { ServiceToken } from './entities/service-token.js';
import { AuthSession } from './entities/session.js';
import { StaffMember } from './entities/staff.js';
import { User, UserStatus } from './entities/user.js';
import { administersErasure } from './queries/erasure.js';
import { mayKnow } from './queries/user.js';
import { isAdmin } from './queries/viewer.js';
import { livingSecrets } from './rules/client-secrets.js';

const isInternal = ({ caller }: Context): boolean => caller.serviceSlug !== null;

/** Everything for those who see all, else the caller's own; nobody's where there is no user. */
const owned =
  (seesAll: (ctx: Context) => boolean) =>
  (ctx: Context): { userId?: string | string[] } =>
    seesAll(ctx) ? {} : { userId: ctx.caller.userId ?? [] };

const seesStaff = (ctx: Context): boolean => isAdmin(ctx.caller) || isInternal(ctx) || holdsPermission(ctx.caller, 'admin:identity:staff');

const seesAddresses = ({ caller }: Context): boolean =>
  isAdmin(caller) || (caller.kind === 'service' && caller.scopes.has('admin:commerce'));

const CLIENTS = { service: 'admin:identity', staff: 'admin:identity:read|admin:identity:clients' } as const;

/** What stands for an account that is not there (any more), so that lists of other services do not break. Source: identity 6. */
const gone = (id: string): User => Object.assign(new User(), { id, status: UserStatus.ERASED });

interface Reference {
  id: string;
}

const idsOf = (references: readonly Reference[]): string[] => references.map(one => String(one.id));

/** Every id is answered; an account of which the caller may know nothing as one that never was. */
const loadUsers: ReferenceLoader = async (ctx, references: readonly Reference[]) => {
  const ids = idsOf(references);
  const users = await rowsBy(ctx, User, 'id', ids);
  return Promise.all(users.map(async (user, index) => ((await mayKnow(ctx, user)) ? user : gone(ids[index]!))));
};

const seesClients = (ctx: Context): boolean =>
  isAdmin(ctx.caller) || isInternal(ctx) || holdsPermission(ctx.caller, 'admin:identity:clients');

const LET_IN = 'select distinct client_id from identity.oauth_grant where client_id = any($1) and user_id = $2';

/** Users see the apps that they have let in, and every caller sees its own client. */
async function visibleClients(ctx: Context, ids: readonly string[]): Promise<string[]> {
  if (seesClients(ctx)) return [...ids];
  const rows = await ctx.sql<{ client_id: string }>(LET_IN, [ids, ctx.caller.userId]);
  return ids.filter(id => id === ctx.caller.clientId || rows.some(row => row.client_id === id));
}

const loadClients: ReferenceLoader = async (ctx, references: readonly Reference[]) => {
  const ids = idsOf(references);
  return inOrder(ids, await ctx.em.find(OAuthClient, { id: { $in: await visibleClients(ctx, ids) } }), row => row.id);
};

const loadServiceTokens = rowReferences(ServiceToken, { readers: CLIENTS });

/** An issued token in the answer to a repeated request. */
const loadIssued: ReferenceLoader = async (ctx, references) =>
  (await loadServiceTokens(ctx, references)).map(token => token && withoutValue(token as ServiceToken));

/** A rotation in the answer to a repeated request. */
const loadRotations: ReferenceLoader = async (ctx, references: readonly Reference[]) => {
  const secrets = await rowsBy(ctx, OAuthClientSecret, 'id', idsOf(references));
  return Promise.all(secrets.map(async secret => secret && rotationAgain(ctx, secret)));
};

async function rotationAgain(ctx: Context, secret: OAuthClientSecret): Promise<RotatedOAuthClientSecret> {
  const others = await ctx.em.find(OAuthClientSecret, { clientId: secret.clientId, id: { $lt: secret.id } });
  return rotationOf(secret, null, livingSecrets(others, ctx.now()));
}

/** Roles are no secret among staff; nobody else finds one. */
const loadRoles: ReferenceLoader = async (ctx, references: readonly { key: string }[]) => {
  const keys = references.map(one => String(one.key));
  return seesStaff(ctx) || isStaff(ctx.caller) ? rowsBy(ctx, Role, 'key', keys) : keys.map(() => null);
};

/** Entries of other people are as absent as those that never were. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  IssuedServiceToken: loadIssued,
  ServiceToken: loadServiceTokens,
  AuthSession: rowReferences(AuthSession, { where: owned(() => false) }),
  StaffMember: rowReferences(StaffMember, { where: owned(seesStaff) }),
  RoleAssignment: rowReferences(RoleAssignment, { where: owned(seesStaff) }),
  Role: loadRoles,
  RotatedOAuthClientSecret: loadRotations,
  User: loadUsers,
  UserAddress: rowReferences(UserAddress, { where: owned(seesAddresses) }),
  Badge: rowReferences(Badge, { key: 'key' }),
  ErasureRequest: rowReferences(ErasureRequest, { where: owned(ctx => administersErasure(ctx.caller)) }),
  MfaMethod: rowReferences(MfaMethod, { where: owned(() => false) }),
  Brand: stubReferences,
  OAuthClient: loadClients,
  OAuthGrant: rowReferences(OAuthGrant, { where: owned(ctx => isAdmin(ctx.caller) || isInternal(ctx)) }),
};
