import type { Envelope } from '../../../events/consumer.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { Digest, DigestItem } from '../entities/records.js';
import { sealJson } from './sealed.js';
import { tell } from './tell.js';

const KIND = 'commissions';
const DAY_MS = 86_400_000;
/** The mail of a day is sent at eight of the next. */
const HOUR_MS = 3_600_000;

const LOCK = "select pg_advisory_xact_lock(hashtextextended('comms-commissions:' || $1, 7))";

/** In the app at once, by mail once a day. Source: comms 5. */
export async function commissionChanged(
  ctx: Context,
  event: Envelope<{ commission_id: string; amount: number; currency: string }>,
  template: 'commission_posted' | 'commission_reversed',
): Promise<void> {
  const { commission_id, amount, currency } = event.data;
  await tell(ctx, event, {
    template,
    key: event.id,
    params: { amount, currency },
    entity: { type: 'commission', id: commission_id },
    channels: ['in_app' as never],
  });
  await ctx.sql(LOCK, [event.user_id]);
  const start = new Date(Math.floor(ctx.now().getTime() / DAY_MS) * DAY_MS);
  const window = { userId: event.user_id!, kind: KIND, windowStart: start, windowEnd: new Date(start.getTime() + DAY_MS) };
  let digest = await ctx.em.findOne(Digest, window);
  if (!digest) await ctx.em.persist((digest = Object.assign(new Digest(), { id: newId(), ...window }))).flush();
  const id = newId();
  await ctx.em
    .persist(
      Object.assign(new DigestItem(), {
        id,
        digestId: digest.id,
        eventId: event.id,
        refSealed: sealJson(ctx, 'digest_item.ref', id, commission_id),
      }),
    )
    .flush();
  const sendAfter = new Date(window.windowEnd.getTime() + 8 * HOUR_MS);
  await tell(ctx, event, { template: 'commission_summary', key: digest.id, digestId: digest.id, sendAfter, channels: ['email' as never] });
}
