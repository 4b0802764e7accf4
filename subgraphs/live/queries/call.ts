import { findRow, rowsBy } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { LiveCall, LiveCallParticipant, type LiveCallMember } from '../entities/call.js';
import { LiveCallParticipantState } from '../entities/enums.js';
import { isOffice } from './people.js';

const { REMOVED } = LiveCallParticipantState;

/** A call that the caller has a part in, or any for services. */
export async function visibleCall(ctx: Context, id: string): Promise<LiveCall | null> {
  const { userId } = ctx.caller;
  const part = userId === null ? null : await findRow(ctx, LiveCallParticipant, { callId: id, userId });
  if ((part === null || part.state === REMOVED) && !isOffice(ctx, 'session')) return null;
  return findRow(ctx, LiveCall, { id });
}

/** Calls by their ids, each as {@link visibleCall}, in one statement a table. */
export async function visibleCalls(ctx: Context, ids: readonly string[]): Promise<(LiveCall | null)[]> {
  const rows = await rowsBy(ctx, LiveCall, 'id', ids);
  if (isOffice(ctx, 'session')) return rows;
  const known = rows.flatMap(row => row?.id ?? []);
  const { userId } = ctx.caller;
  const parts = userId === null ? [] : await ctx.em.find(LiveCallParticipant, { callId: { $in: known }, userId, state: { $ne: REMOVED } });
  const own = new Set(parts.map(({ callId }) => callId));
  return rows.map(row => (row && own.has(row.id) ? row : null));
}

/** Its people, in a batch with those of other calls. */
export async function membersOf(ctx: Context, callId: string): Promise<LiveCallMember[]> {
  await ctx.em.flush(); // of one that is being made
  const members = await ctx.load('live.call.people', callId, async ids => {
    const rows = await ctx.em.find(LiveCallParticipant, { callId: { $in: [...ids] } }, { orderBy: { role: 'desc', userId: 'asc' } });
    return ids.map(id => rows.filter(row => row.callId === id && row.state !== REMOVED));
  });
  return members ?? [];
}
