import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { memoryOf } from '../ports/memory.js';

/** Hints of this channel: `{ user_ids }` or `{ epoch }`. Source: entitlements 5, event-machinery 6. */
const CHANNEL = 'entitlements.invalidate';

const RAISE = 'update entitlements.cache_epoch set epoch = epoch + 1 returning epoch::text as epoch';

/** After the commit all processes read these users anew; a lost hint costs them at most 30 s. */
export function forgetUsers(ctx: Context, userIds: readonly string[]): void {
  if (userIds.length === 0) return;
  ctx.afterCommit(() => {
    memoryOf(ctx.host).forget(userIds);
    ctx.host.transport.hint(CHANNEL, 'users', { user_ids: [...userIds] });
  });
}

/** The same for everybody: a feature or what a tier gives has changed. */
export async function forgetEverything(ctx: Context): Promise<void> {
  const [raised] = await ctx.sql<{ epoch: string }>(RAISE);
  ctx.afterCommit(() => {
    memoryOf(ctx.host).forgetAll();
    ctx.host.transport.hint(CHANNEL, 'epoch', { epoch: Number(raised!.epoch) });
  });
}

/** Listens for what other processes have changed. */
export const hearChanges = (host: ServiceHost): { stop(): void } =>
  host.transport.onHint(CHANNEL, '*', body => {
    const { user_ids: userIds } = (body ?? {}) as { user_ids?: readonly string[] };
    if (userIds) memoryOf(host).forget(userIds);
    else memoryOf(host).forgetAll();
  });
