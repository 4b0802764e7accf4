import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { CommsSuppressionReason } from '../entities/enums.js';
import { CommsSuppression } from '../entities/suppression.js';
import type { AddCommsSuppressionInput, RemoveCommsSuppressionInput } from '../inputs/suppressions.js';
import { topicOf } from '../rules/topics.js';
import { suppress } from './outcome.js';
import { hashFor } from './pipeline/decide.js';

/** Stops an address by hand. The address itself is not kept. */
export async function addSuppression(
  ctx: Context,
  { channel, address, scope, expiresAt }: AddCommsSuppressionInput,
): Promise<CommsSuppression> {
  if (!['all', 'marketing'].includes(scope) && !topicOf(scope)) invalid('/input/scope', 'is no topic');
  const addressHash = hashFor(ctx, channel, address);
  const known = await ctx.em.findOne(CommsSuppression, { channel, addressHash, scope });
  if (known) ctx.status(200);
  const id = await suppress(ctx, {
    channel,
    addressHash,
    scope,
    reason: CommsSuppressionReason.MANUAL,
    source: 'staff',
    expiresAt: expiresAt ?? null,
  });
  ctx.audit('suppression.added', id, { channel, scope });
  return ctx.em.findOneOrFail(CommsSuppression, { id }, { refresh: true });
}

/** @throws Problem not_found; invalid_request where somebody complained and no reason is given. */
export async function removeSuppression(ctx: Context, { id, reason }: RemoveCommsSuppressionInput): Promise<boolean> {
  const row = await requireRow(ctx, CommsSuppression, { id });
  if (row.reason === CommsSuppressionReason.COMPLAINT && !reason) invalid('/input/reason', 'is required where somebody complained');
  ctx.em.remove(row);
  ctx.audit('suppression.removed', id, { channel: row.channel, scope: row.scope, was: row.reason });
  return true;
}
