import { CATALOGUE } from '../../../events/catalogue.js';
import { grantChanged } from '../../../events/catalogue/identity.js';
import { handle, type Consumer, type Handler } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { applyGrant } from '../commands/grant-changes.js';
import { readEntry } from '../commands/grants.js';
import { ingest, missingGrants, unsubscribed } from '../commands/ingest.js';

/** Every event type with a scope. */
const scoped: Handler<Context>[] = [...CATALOGUE.values()]
  .filter(definition => definition.scope !== null)
  .map(definition =>
    handle(
      definition,
      (ctx: Context, event) => ingest(ctx, event, definition),
      ({ data }) => !definition.withheld?.(data),
    ),
  );

/** One consumer for events and grants, so that one ordered partition carries a user's both. Source: section 5. */
export const deliveryConsumer: Consumer<Context> = {
  name: 'webhooks.delivery',
  partitions: 16,
  on: [...scoped, handle(grantChanged, applyGrant)],
  prepare: missingGrants.run,
  read: readEntry,
  passOver: (ctx, event) => (event.type === grantChanged.name ? null : unsubscribed(ctx, event)),
};
