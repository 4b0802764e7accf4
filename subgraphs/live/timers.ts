import { after, DAY_MS } from '../../runtime/time/durations.js';
import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliest } from '../../runtime/time/due.js';
import type { Feed } from '../../runtime/streams/feed.js';
import {
  CALL_END_AT,
  cancelNoShows,
  endCalls,
  endOverruns,
  expireOffers,
  NOTICES,
  OVERRUN_AT,
  promoteQueues,
  QUEUES,
  tellMoved,
} from './commands/due.js';
import { chatFeed, sessionFeed } from './commands/feeds.js';

const OFFER =
  "select confirm_by as at from live.live_registration where status = 'offered' and confirm_by is not null order by confirm_by limit 1";
const NO_SHOW =
  "select starts_at + interval '60 minutes' as at from live.live_session where status = 'scheduled' order by starts_at limit 1";
const OVERRUN = `select ${OVERRUN_AT} as at from live.live_session where status = 'live'`;
const CALL = `select ${CALL_END_AT} as at from live.live_call where status in ('created', 'active')`;

const nothing = async (): Promise<void> => undefined;
/** The rows themselves say what is left to do, so that two processes at once do nothing twice. */
const ROWS_SAY = { claim: nothing, keep: nothing, finish: nothing };

/** Entries of streams are kept for a day after the end. Source: live 4.8. */
const prune = (name: string, feed: Feed): Timer<Context> => ({
  name,
  everySeconds: 300,
  next: async ctx => {
    const end = await feed.oldestEnd(ctx);
    return end && after(end, DAY_MS);
  },
  run: (ctx, at) => feed.prune(ctx, after(at, -DAY_MS)),
});

/** Whatever time alone changes. Source: live 3. */
export const timers: readonly Timer<Context>[] = [
  {
    name: 'live-offers',
    next: earliest(OFFER),
    run: expireOffers,
    claimed: ROWS_SAY,
  },
  {
    name: 'live-queues',
    everySeconds: 5,
    next: earliest(QUEUES, ctx => [ctx.now().toISOString(), []]),
    run: promoteQueues,
    claimed: ROWS_SAY,
  },
  {
    name: 'live-notices',
    everySeconds: 5,
    next: earliest(NOTICES, ctx => [ctx.now().toISOString()]),
    run: tellMoved,
    claimed: ROWS_SAY,
  },
  { name: 'live-no-shows', next: earliest(NO_SHOW), run: cancelNoShows },
  { name: 'live-overruns', next: earliest(OVERRUN), run: endOverruns },
  { name: 'live-calls', next: earliest(CALL), run: endCalls },
  prune('live-feed', sessionFeed),
  prune('live-chat', chatFeed),
];
