import type { Context } from '../../../runtime/request/context.js';
import { holdsPermission } from '../../../runtime/request/caller.js';
import { fail } from '../../../runtime/request/errors.js';

/** The user who is asked about: without an id the caller. @throws Problem invalid_request when a service names nobody. */
export function subjectOf({ caller }: Context, userId: string | null | undefined, pointer = '/userId'): string {
  const subject = userId ?? caller.userId;
  if (subject === null)
    fail('invalid_request', 'The user is missing', { errors: [{ pointer, message: 'is required for a service token' }] });
  return subject.toLowerCase();
}

/** The caller's rows only, unless it is a service or staff with one of the permissions. */
export const ownRows = ({ caller }: Context, permissions: readonly string[] = []): { userId?: string } =>
  caller.kind !== 'user' || permissions.some(one => holdsPermission(caller, one)) ? {} : { userId: caller.userId! };
