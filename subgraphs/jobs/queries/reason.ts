import { isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';

/** What an operator says in the audit; staff must say it. Source: jobs 7.13. @throws Problem invalid_request. */
export function reasonOf(ctx: Context, reason: string | null | undefined, pointer = '/input/reason'): string | null {
  if (!reason && isStaff(ctx.caller))
    fail('invalid_request', 'The reason is missing', { errors: [{ pointer, message: 'is required of staff' }] });
  return reason ?? null;
}
