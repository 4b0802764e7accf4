import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { after } from '../../../runtime/time/durations.js';
import { HandleAvailabilityReason, type UserProfile } from '../entities/user.js';
import { judgeHandle } from '../queries/handle.js';
import { HANDLE_COOLDOWN_MS, HANDLE_HOLD_MS } from '../rules/handles.js';

const { TAKEN, HELD } = HandleAvailabilityReason;

/** A handle that is given up is held back, so that nobody takes it for the person who had it. Source: identity 2; 7, rule 11. */
const HOLD = `
insert into identity.handle_hold (handle, user_id, held_until) select handle, user_id, $2 from identity.user_profile where user_id = $1 and handle is not null
on conflict (handle) do update set user_id = excluded.user_id, held_until = excluded.held_until`;

/** Holds the handle that a profile has in its row, from the instant at which it is given up. Needs a transaction. */
export async function holdHandle(ctx: Context, userId: string, givenUpAt: Date): Promise<void> {
  await ctx.sql(HOLD, [userId, after(givenUpAt, HANDLE_HOLD_MS).toISOString()]);
}

/** Writes the caller's handle after the rules. @throws Problem invalid_request, conflict (`handle_taken`, `handle_cooldown`). */
export async function changeHandle(ctx: Context, profile: UserProfile, wanted: string | null, brands: readonly string[]): Promise<void> {
  const handle = wanted?.toLowerCase() ?? null;
  if (handle === profile.handle) return;
  const reason = handle === null ? null : (await judgeHandle(ctx, handle, brands)).reason;
  if (reason === TAKEN || reason === HELD) fail('conflict', 'This handle belongs to somebody else', { reason: 'handle_taken' });
  if (reason) invalid('/input/handle', `is ${reason}`);
  const now = ctx.now();
  if (profile.handleChangedAt && now < after(profile.handleChangedAt, HANDLE_COOLDOWN_MS))
    fail('conflict', 'The handle was changed less than 30 days ago', { reason: 'handle_cooldown' });
  await ctx.sql('delete from identity.handle_hold where handle = $1', [handle]); // the owner's own, or one that has run out
  if (profile.handle !== null) await holdHandle(ctx, profile.userId, now);
  if (profile.handle !== null || profile.handleChangedAt) profile.handleChangedAt = now; // the first handle is no change
  profile.handle = handle;
}
