import { type Caller, holdsPermission } from '../../../runtime/request/caller.js';
import { fail } from '../../../runtime/request/errors.js';
import type { User } from '../entities/user.js';
import { seesAccount, type Viewer } from '../rules/visibility.js';

/** Whether the caller administers accounts: S, or staff with `admin:identity:read`. */
export const isAdmin = (caller: Caller): boolean =>
  (caller.kind === 'service' && caller.scopes.has('admin:identity')) || holdsPermission(caller, 'admin:identity:read');

/** An account that somebody looks at. */
type Seen = Pick<User, 'id' | 'administered'>;

/** How the caller stands to an account. Staff stand to their own as its owner, so by the scopes of their app, outside administrators' operations. */
export const viewerOf = (caller: Caller, { id, administered = false }: Seen): Viewer => ({
  admin: isAdmin(caller) && (caller.userId !== id || administered),
  self: caller.userId === id,
  user: caller.kind === 'user',
  scopes: caller.scopes,
});

/** Marks what an administrators' operation answers with: its own rule has opened the whole account, the caller's own one included. */
export const asAdministered = (user: User): User => Object.assign(user, { administered: true });

/** Whether a part of an account is the caller's to see: an administrator's, or the owner's with this scope. @throws Problem insufficient_scope for an owner without it. */
export function seesPart(caller: Caller, user: Seen, scope: string): boolean {
  const { admin, self, scopes } = viewerOf(caller, user);
  if (self && !admin && !scopes.has(scope)) fail('insufficient_scope', `The token lacks ${scope}`, { scope });
  return admin || self;
}

/** Whether the caller may know that the account is there, and its brand: a service that works for a user works for the user's brand. */
export const knowsBrand = (caller: Caller, id: string): boolean => caller.serviceSlug !== null || seesAccount(viewerOf(caller, { id }));
