import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliestOf } from '../../runtime/time/due.js';
import { sweepTimer } from '../../runtime/time/schedule.js';
import { expandDue, NEXT_EXPANSION } from './commands/expand.js';
import { tidy } from './commands/retention.js';
import { isWorking, NEXT_DUE } from './commands/pipeline/claim.js';
import { workOff } from './commands/pipeline/deliver.js';

const nothing = async (): Promise<void> => undefined;

/** Sign-in is taken ten at a time, so that none waits for many others. */
const SIGN_IN = { lanes: [0], most: 10 };
const PERSONAL = { lanes: [1], most: 50 };
const ADVERTS = { lanes: [2], most: 50 };

const lane = (name: string, { lanes, most }: { lanes: readonly number[]; most: number }): Timer<Context> => ({
  name,
  everySeconds: 1,
  next: ctx => earliestOf(ctx, NEXT_DUE, [lanes]),
  run: async ctx => void (await workOff(ctx.host, lanes, most)),
  claimed: { claim: nothing, keep: nothing, finish: nothing, running: ctx => isWorking(ctx, lanes) },
});

/** Whatever becomes due. Three lanes, so that nothing waits behind adverts. Source: comms, rule 17. */
export const timers: readonly Timer<Context>[] = [
  lane('comms-sign-in', SIGN_IN),
  lane('comms-personal', PERSONAL),
  lane('comms-adverts', ADVERTS),
  {
    name: 'comms-recipients',
    everySeconds: 1,
    next: ctx => earliestOf(ctx, NEXT_EXPANSION),
    run: async ctx => void (await expandDue(ctx.host)),
    claimed: { claim: nothing, keep: nothing, finish: nothing },
  },
  sweepTimer({ name: 'comms-retention', everyMs: 3_600_000, run: ctx => tidy(ctx.host) }),
];
