import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';

interface Versioned {
  version: number;
  supersededAt: Date | null;
}

/**
 * Makes room for the next version of a definition: the one in force is unique. It must be the one that the author has read.
 * @throws Problem conflict, reason `version_conflict`.
 */
export async function supersede(ctx: Context, current: Versioned | null, read: number | null | undefined, thing: string): Promise<void> {
  if ((current?.version ?? null) !== (read ?? null))
    fail('conflict', current ? `the ${thing} is in version ${current.version}` : `there is no such ${thing}`, {
      reason: 'version_conflict',
    });
  if (current) current.supersededAt = ctx.now();
  await ctx.em.flush();
}
