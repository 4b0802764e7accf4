import type { Patch } from '../wrong-designs.js';

/** Faults of seats that look harmless to one caller at a time: the run that finds nothing wrong with ours must find these. Source: issue 19. */
export const SEAT_FAULTS: Readonly<Record<string, readonly Patch[]>> = {
  'admission without the lock': [
    {
      module: 'subgraphs/live/commands/registration.js',
      find: 'lockRow(ctx, LiveSession, { id, hiddenAt: null })',
      replace: 'ctx.em.findOneOrFail(LiveSession, { id, hiddenAt: null }, { refresh: true })',
    },
  ],
};
