import { holdsPermission, type Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { DAY_MS } from '../../../runtime/time/durations.js';

/** What a clinician should see first is kept from the member for so long at most. Source: clinical 7.3.2. */
export const HELD_BACK_MS = DAY_MS;

const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Whether a caller may see health values of a row that it may see: a service with `admin:clinical`, a clinician, the owner with
 * `read:biomarkers`. Everybody else gets null for them. Source: clinical 4, value access.
 */
export function seesValues(caller: Caller, ownerId: string): boolean {
  if (caller.kind === 'service') return caller.scopes.has('admin:clinical');
  if (caller.kind !== 'user') return false;
  return holdsPermission(caller, 'admin:clinical:read') || (caller.userId === ownerId && caller.scopes.has('read:biomarkers'));
}

/** Rows that a caller may see at all: services and staff with a permission (`a|b` either) any, a member the own ones. The owner stands in the `where`. */
export function visibleRows(caller: Caller, permission = 'admin:clinical:read'): { patientId?: string } {
  const any = caller.kind === 'service' || caller.kind === 'system' || permission.split('|').some(one => holdsPermission(caller, one));
  return any ? {} : { patientId: caller.userId ?? NOBODY };
}

/**
 * Members see a critical value only after a clinician has acknowledged its alert, or 24 h: neither the result nor anything that is
 * made of it. A result bears until when it is held back, and so do the cycles, flags and rows of reports that show it; every way to
 * a member asks one of the functions below and compares nothing itself. Source: clinical 7.3.2.
 */
export const hidesCritical = (caller: Caller): boolean => caller.kind === 'user' && !holdsPermission(caller, 'admin:clinical:read');

/** Results that a member sees by now. */
export const notHeldBack = (now: Date) => ({ $or: [{ hiddenUntil: null }, { hiddenUntil: { $lte: now } }] });

/** Whether what bears such a time is kept from members by now. */
export const isHidden = ({ hiddenUntil }: { hiddenUntil: Date | null }, now: Date): boolean => hiddenUntil !== null && hiddenUntil > now;

/** Whether what the caller may see is kept from it for now. */
export const isHeldBack = (ctx: Context, row: { hiddenUntil: Date | null }): boolean =>
  hidesCritical(ctx.caller) && isHidden(row, ctx.now());

/** The same as a condition on results. */
export const heldBack = (ctx: Context) => (hidesCritical(ctx.caller) ? notHeldBack(ctx.now()) : {});
