import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { LiveSessionStatus } from '../entities/enums.js';
import { LiveSeries } from '../entities/session.js';
import type { LiveSeriesCreated } from '../entities/values.js';
import type { CreateLiveSeriesInput } from '../inputs/session.js';
import { occurrencesOf } from '../queries/occurrences.js';
import { hosting, makeSession } from './session.js';

/** Makes one scheduled session for each occurrence of a rule; all or none. */
export async function createSeries(ctx: Context, { rrule, ...input }: CreateLiveSeriesInput): Promise<LiveSeriesCreated> {
  if (input.status === LiveSessionStatus.DRAFT) invalid('/input/status', 'must be scheduled');
  const timeZone = input.timeZone ?? 'UTC';
  const starts = occurrencesOf(rrule, input.startsAt, timeZone);
  const length = input.endsAt.getTime() - input.startsAt.getTime();
  const sessions = [];
  const series = Object.assign(new LiveSeries(), { rrule: rrule.replace(/^RRULE:/, ''), timeZone, createdAt: ctx.now() });
  for (const startsAt of starts) {
    const one = { ...input, startsAt, endsAt: new Date(startsAt.getTime() + length), timeZone };
    sessions.push(await makeSession(ctx, one, hosting.of(ctx), series.id));
  }
  series.brandId = sessions[0]!.brandId;
  ctx.em.persist(series);
  ctx.audit('live_series.created', series.id, { sessions: sessions.length });
  return { id: series.id, rrule: series.rrule, timeZone, sessionIds: sessions.map(({ id }) => id) };
}
