import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { stubReferences } from '../../runtime/data/references.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { CONCERNED, READERS } from './entities/enums.js';
import { consumerOf } from './queries/consumers.js';
import { letterOf } from './queries/dead-letters.js';
import { eventTypeOf } from './queries/event-types.js';
import { eventOf } from './queries/log.js';
import { replayOf } from './queries/replays.js';

type Readers = Parameters<typeof ruleOf>[0];

/** Rows of the machinery's tables, in one batch; nobody else learns whether one exists. */
const loaded =
  (readers: Readers, key: 'id' | 'name', load: (ctx: Context, key: string) => Promise<object | null>): ReferenceLoader =>
  async (ctx, references: readonly Record<string, unknown>[]) =>
    mayAccess(ruleOf(readers), ctx.caller)
      ? Promise.all(references.map(reference => load(ctx, String(reference[key]))))
      : references.map(() => null);

export const references = {
  EventType: async (_ctx, types) => types.map(({ name }) => eventTypeOf(String(name))),
  EventConsumer: loaded(READERS, 'name', consumerOf),
  ConsumerDeadLetter: loaded(READERS, 'id', letterOf),
  PlatformEvent: loaded(CONCERNED, 'id', eventOf),
  EventReplay: loaded(READERS, 'id', replayOf),
  User: stubReferences,
} satisfies Readonly<Record<string, ReferenceLoader>>;
