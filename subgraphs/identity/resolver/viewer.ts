import { holdsPermission, type Caller } from '../../../runtime/caller.js';
import type { Viewer } from '../rules/visibility.js';

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
