import { holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { ASKERS } from '../entities/access.js';

/** The user who is asked about: without an id the caller. @throws Problem invalid_request when a service names nobody. */
export function subjectOf(ctx: Context, userId: string | null | undefined): string {
  const subject = userId ?? ctx.caller.userId;
  if (subject === null)
    fail('invalid_request', 'The user is missing', { errors: [{ pointer: '/userId', message: 'is required for a service token' }] });
  return subject.toLowerCase();
}

/** Whether the caller may ask about a user: about oneself, or as a service or support about anybody. */
export const mayAskAbout = ({ caller }: Context, userId: string): boolean =>
  caller.kind !== 'user' || userId.toLowerCase() === caller.userId || holdsPermission(caller, ASKERS.staff);
