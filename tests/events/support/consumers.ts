import { handle, type Envelope } from '../../../events/consumer.js';
import { note, type TestContext } from './host.js';
import { events } from './world.js';

export const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** What a consumer does with a step before it notes it. */
export type Run = (ctx: TestContext, event: Envelope<{ n: number }>) => Promise<void>;

/** A consumer of two partitions that notes each step. */
export const noting = (name: `clinical.${string}`, before: Run = async () => undefined, options: object = {}) => ({
  name,
  partitions: 2 as const,
  on: [
    handle(events.stepTaken, async (ctx: TestContext, event: Envelope<{ n: number }>) => {
      await before(ctx, event);
      await note(ctx, name, event);
    }),
  ],
  ...options,
});
