import { Together, type Batch, type Call } from '../../../runtime/data/together.js';
import type { Context } from '../../../runtime/request/context.js';
import { LiveRegistrationStatus } from '../entities/enums.js';
import { LiveRegistration } from '../entities/registration.js';
import type { LiveSession } from '../entities/session.js';
import type { RegisterForLiveSessionInput } from '../inputs/registration.js';
import { asked, lockSession, register } from './registration.js';

type Registering = Call<RegisterForLiveSessionInput>;

/** Registrations of those who wait, before they are admitted, by user. */
async function knownOf(ctx: Context, session: LiveSession, calls: readonly Registering[]): Promise<Map<string, LiveRegistration>> {
  const users = calls.map(one => asked.of(one.ctx).userId);
  const rows = await ctx.em.find(LiveRegistration, { sessionId: session.id, userId: { $in: users } }, { refresh: true });
  return new Map(rows.map(row => [row.userId, row]));
}

/** An offer is taken or runs out, which moves the queue before it may still be refused: such a registration has a transaction of its own. */
const isApart = (known: ReadonlyMap<string, LiveRegistration>, { ctx }: Registering): boolean =>
  known.get(asked.of(ctx).userId)?.status === LiveRegistrationStatus.OFFERED;

async function begin(
  ctx: Context,
  session: LiveSession,
  calls: readonly Registering[],
): Promise<Batch<RegisterForLiveSessionInput, LiveRegistration>> {
  const known = await knownOf(ctx, session, calls);
  const apart = calls.findIndex(one => isApart(known, one));
  return {
    size: apart < 0 ? calls.length : Math.max(1, apart),
    async one(own, { input: { overrideCapacity } }) {
      const { userId } = asked.of(own);
      const row = await register(own, session, { before: known.get(userId) ?? null, overrideCapacity });
      known.set(userId, row);
      return row;
    },
  };
}

/** Registers somebody, together with all others who wait for the same session in this process. @throws Problem as {@link register} */
export const admissions = new Together({
  field: 'registerForLiveSession',
  type: LiveRegistration.name,
  keyOf: (input: RegisterForLiveSessionInput) => input.sessionId.toLowerCase(),
  lock: (ctx, input) => lockSession(ctx, input.sessionId),
  begin,
});
