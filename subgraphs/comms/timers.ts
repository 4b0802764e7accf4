import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliest, earliestOf } from '../../runtime/time/due.js';
import { dueSweep } from '../../runtime/time/due-sweep.js';
import { expandDue, NEXT_EXPANSION } from './commands/expand.js';
import { NEXT_TIDY, tidy } from './commands/retention.js';
import { NEXT_DUE } from './commands/pipeline/claim.js';
import { isWorking, workOff } from './commands/pipeline/deliver.js';

const DAY_MS = 86_400_000;
const nothing = async (): Promise<void> => undefined;

/** Sign-in is taken ten at a time, so that none waits for many others. */
const SIGN_IN = { lane: 0, most: 10 };
const PERSONAL = { lane: 1, most: 50 };
const ADVERTS = { lane: 2, most: 50 };

const laneTimer = (name: string, { lane, most }: { lane: number; most: number }): Timer<Context> => ({
  name,
  everySeconds: 1,
  next: earliest(NEXT_DUE, () => [lane]),
  run: async ctx => void (await workOff(ctx.host, lane, most)),
  claimed: { claim: nothing, keep: nothing, finish: nothing, running: async ctx => isWorking(ctx.host) },
});

/** Whatever becomes due. Three lanes, so that nothing waits behind adverts. Source: comms, rule 17. */
export const timers: readonly Timer<Context>[] = [
  laneTimer('comms-sign-in', SIGN_IN),
  laneTimer('comms-personal', PERSONAL),
  laneTimer('comms-adverts', ADVERTS),
  {
    name: 'comms-recipients',
    everySeconds: 1,
    next: earliest(NEXT_EXPANSION),
    run: async ctx => void (await expandDue(ctx.host)),
    claimed: { claim: nothing, keep: nothing, finish: nothing },
  },
  dueSweep({ name: 'comms-retention', everyMs: DAY_MS, run: ctx => tidy(ctx.host) }, ctx => earliestOf(ctx, NEXT_TIDY)),
];
