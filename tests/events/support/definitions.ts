/** Event types of the machinery's tests, made with either build of `defineEvent`. */
import { z } from 'zod';
import type * as define from '../../../events/define.js';

export function definitions({ defineEvent }: Pick<typeof define, 'defineEvent'>) {
  const options = { owner: 'clinical', emitters: ['platform', 'identity'], when: 'A test takes a step.', scope: null } as const;
  const stepTaken = defineEvent('test.step.taken.v1', z.strictObject({ n: z.int() }), {
    ...options,
    user: 'optional',
    examples: [{ n: 1 }],
  });
  /** The same type as a newer emitter knows it. */
  const stepTakenWithMore = defineEvent('test.step.taken.v1', z.strictObject({ n: z.int(), pace: z.string().optional() }), {
    ...options,
    user: 'optional',
    examples: [{ n: 1, pace: 'slow' }],
  });
  /** The same type from a broken emitter. */
  const stepTakenWithLess = defineEvent('test.step.taken.v1', z.strictObject({}), { ...options, user: 'optional', examples: [{}] });
  const userMoved = defineEvent('test.user.moved.v1', z.strictObject({ n: z.int() }), {
    ...options,
    user: 'required',
    examples: [{ n: 1 }],
  });
  const probeSent = defineEvent('test.probe.sent.v1', z.strictObject({ n: z.int() }), { ...options, user: 'none', examples: [{ n: 1 }] });
  return { stepTaken, stepTakenWithMore, stepTakenWithLess, userMoved, probeSent };
}
