import { isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';

/** The reason that an operator gives for the audit. Source: jobs 7.13. @throws Problem invalid_request where staff give none. */
export function requireReason(ctx: Context, reason: string | null | undefined, pointer = '/input/reason'): string | null {
  if (!reason && isStaff(ctx.caller)) invalid(pointer, 'is required of staff');
  return reason ?? null;
}
