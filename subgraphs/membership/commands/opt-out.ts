import type { Context } from '../../../runtime/request/context.js';
import type { Membership } from '../entities/membership.js';
import { ownMembership } from '../queries/membership.js';
import { lockMember, recordOwn } from './facts.js';
import { refold } from './refold.js';

/** Ends the campaign that is open, and lets none begin again. Again: nothing changes. @throws Problem not_found. */
export async function optOut(ctx: Context, brandId: string | null): Promise<Membership> {
  await lockMember(ctx, ctx.caller.userId!);
  const own = await ownMembership(ctx, brandId, '/brandId');
  await recordOwn(ctx, own.userId, { kind: 'opted_out', brandId: own.brandId, data: {} });
  await refold(ctx, own.userId);
  ctx.audit('win_back.opted_out', own.id);
  return own;
}
