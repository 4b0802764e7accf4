import { type Caller, holdsPermission } from '../../../runtime/request/caller.js';
import { seesAccount, type Viewer } from '../rules/visibility.js';

/** Whether the caller administers accounts: S, or staff with `admin:identity:read`. */
export const isAdmin = (caller: Caller): boolean =>
  (caller.kind === 'service' && caller.scopes.has('admin:identity')) || holdsPermission(caller, 'admin:identity:read');

/** How the caller stands to an account. */
export const viewerOf = (caller: Caller, userId: string): Viewer => ({
  admin: isAdmin(caller),
  self: caller.userId === userId,
  user: caller.kind === 'user',
  scopes: caller.scopes,
});

/** Whether the caller may know that the account is there, and its brand: a service that works for a user works for the user's brand. */
export const knowsBrand = (caller: Caller, userId: string): boolean => caller.serviceSlug !== null || seesAccount(viewerOf(caller, userId));
