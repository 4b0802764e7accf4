import { holdsPermission, isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { Role, RoleAssignment, StaffMember } from '../entities/staff.js';
import { isAdmin } from './viewer.js';

interface Reference {
  id: string;
}

/** Whether the caller may know who works here. */
const seesStaff = ({ caller }: Context): boolean =>
  isAdmin(caller) || caller.serviceSlug !== null || holdsPermission(caller, 'admin:identity:staff');

/** A user token finds its own entry only; null: nobody. */
const owned = (ctx: Context): { userId?: string } | null => {
  if (seesStaff(ctx)) return {};
  return ctx.caller.userId === null ? null : { userId: ctx.caller.userId };
};

const idsOf = (references: readonly Reference[]): string[] => references.map(one => String(one.id));

export async function loadStaff(ctx: Context, references: readonly Reference[]): Promise<(StaffMember | null)[]> {
  const [ids, owner] = [idsOf(references), owned(ctx)];
  if (!owner) return ids.map(() => null);
  return inOrder(ids, await ctx.em.find(StaffMember, { id: { $in: ids.filter(isUuid) }, ...owner }), row => row.id);
}

export async function loadAssignments(ctx: Context, references: readonly Reference[]): Promise<(RoleAssignment | null)[]> {
  const [ids, owner] = [idsOf(references), owned(ctx)];
  if (!owner) return ids.map(() => null);
  return inOrder(ids, await ctx.em.find(RoleAssignment, { id: { $in: ids.filter(isUuid) }, ...owner }), row => row.id);
}

/** Roles are no secret among staff; nobody else finds one. */
export async function loadRoles(ctx: Context, references: readonly { key: string }[]): Promise<(Role | null)[]> {
  const keys = references.map(one => String(one.key));
  if (!seesStaff(ctx) && !isStaff(ctx.caller)) return keys.map(() => null);
  return inOrder(keys, await ctx.em.find(Role, { key: { $in: keys } }), row => row.key);
}
