import { isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';

/** Belongs into the `where` beside the id: a member's token finds the member's rows only, services and staff find anybody's. */
export const ownRows = ({ caller }: Context): { userId?: string } =>
  caller.kind === 'user' && !isStaff(caller) ? { userId: caller.userId! } : {};
