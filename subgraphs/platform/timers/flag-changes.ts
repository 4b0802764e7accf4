import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import type { FlagChange } from '../entities/flag-change.js';
import { FlagChangeStatus } from '../entities/flag.js';
import { applyChange, checkForm, checkGuard, type Loaded } from '../commands/flag-writing.js';
import { gateOfChange, lockChange } from '../resolvers/flag-approval.js';
import { moveChange, type GateAnswer } from '../rules/flag-change.js';
import type { FlagPatch } from '../rules/flag-state.js';

const WAITING = `
  select id, flag_key, case status when 'pending' then expires_at else apply_at end as at from platform.flag_change
  where status in ('pending', 'scheduled')`;
const EARLIEST = `select extract(epoch from min(at)) * 1000 as ms from (${WAITING}) w`;
const DUE = `select id from (${WAITING}) w where at <= $1 order by at, id`;

/** @throws Problem where the change does not fit the flag any more. */
async function apply(ctx: Context, loaded: Loaded, change: FlagChange, gate: GateAnswer | null): Promise<void> {
  if (loaded.flag.revision !== change.baseRevision) throw new Problem('conflict', 'the flag changed meanwhile');
  await checkForm(ctx, loaded, change.after as FlagPatch, '');
  checkGuard(loaded, change.after as FlagPatch, gate);
  moveChange(change.status, 'apply');
  await applyChange(ctx, loaded, change);
  ctx.audit('flag_change.applied', change.id, { flag: change.flagKey });
}

function expire(ctx: Context, change: FlagChange, cause: string): void {
  if (change.status === FlagChangeStatus.SCHEDULED)
    ctx.log.error(
      { alarm: 'scheduled flag change expired', flag: change.flagKey, change: change.id, cause },
      'a scheduled flag change was not applied',
    );
  change.status = moveChange(change.status, 'expire');
  ctx.audit('flag_change.expired', change.id, { flag: change.flagKey, cause });
}

/** One change that is due: applied or expired, and nothing if somebody else was faster. */
async function settle(ctx: Context, id: string, gate: GateAnswer | null): Promise<void> {
  const { loaded, change } = await lockChange(ctx, id);
  if (change.status === FlagChangeStatus.PENDING) return expire(ctx, change, 'not approved in time');
  if (change.status !== FlagChangeStatus.SCHEDULED) return;
  try {
    await apply(ctx, loaded, change, gate);
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
    expire(ctx, change, error.options.reason ?? error.message);
  }
}

/**
 * Applies changes whose time has come and ends those that nobody approved. The gate is asked before each one's transaction, so the
 * timer works outside one; two processes at once find the second change settled. Source: platform 3.
 */
export const flagChangesTimer: Timer<Context> = {
  name: 'flag_changes',
  everySeconds: 1,
  async next(ctx) {
    const [row] = await ctx.sql<{ ms: string | null }>(EARLIEST);
    return row?.ms == null ? null : new Date(Math.round(Number(row.ms)));
  },
  async run(ctx, at) {
    for (const { id } of await ctx.sql<{ id: string }>(DUE, [at.toISOString()])) {
      const gate = await gateOfChange(ctx, id);
      await ctx.host.transaction(own => settle(own, id, gate));
    }
  },
  claimed: { claim: async () => undefined, keep: async () => undefined, finish: async () => undefined },
};
