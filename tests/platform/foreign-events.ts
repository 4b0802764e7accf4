import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent, type About } from '../../events/outbox.js';
import type { TestPlatform } from '../support/platform.js';

/** Emits an event as its owner does, wherever that service runs. */
export async function emitAsOwner<E extends EventDefinition>(p: TestPlatform, event: E, data: DataOf<E>, about: About): Promise<void> {
  const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
  const pending = prepareEvent(event, data, about, meta);
  await p.sql(`set role platform_events; select events.append('${JSON.stringify([pending]).replaceAll("'", "''")}', null); reset role`);
}
