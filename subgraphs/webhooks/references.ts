import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { stubReferences } from '../../runtime/data/references.js';
import { rowsBy } from '../../runtime/data/rows.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { WebhookDelivery } from './entities/delivery.js';
import { InboundReceipt } from './entities/inbound.js';
import { WebhookJob } from './entities/job.js';
import { READERS, WebhookSubscription } from './entities/subscription.js';
import { managedClients } from './queries/managed.js';

type Ids = readonly { id: string }[];

/** Nobody else learns whether one exists. */
const mayRead = (ctx: Context): boolean => mayAccess(ruleOf(READERS), ctx.caller);

/** Rows by id, without those of clients that the caller does not manage. */
const managedReferences =
  <Row extends { id: string; clientId: string }>(entity: EntityClass<Row>, where: FilterQuery<NoInfer<Row>> = {}): ReferenceLoader =>
  async (ctx, references: Ids) => {
    if (!mayRead(ctx)) return references.map(() => null);
    const rows = await rowsBy(
      ctx,
      entity as EntityClass<{ id: string; clientId: string }>,
      'id',
      references.map(({ id }) => id),
      where as object,
    );
    const managed = await managedClients(ctx);
    return rows.map(row => (row && (managed?.includes(row.clientId) ?? true) ? row : null));
  };

/** A machine client that is bound to some clients has none. */
const receiptReferences: ReferenceLoader = async (ctx, references: Ids) => {
  if (!mayRead(ctx) || (await managedClients(ctx)) !== null) return references.map(() => null);
  return rowsBy(
    ctx,
    InboundReceipt,
    'id',
    references.map(({ id }) => id),
  );
};

/** Anybody's account may be pointed at by services and staff; a member sees the own one. Its fields have rules of their own. */
const userReferences: ReferenceLoader = async ({ caller }, references: Ids) =>
  references.map(({ id }) =>
    caller.kind !== 'user' || caller.permissions.length > 0 || String(id).toLowerCase() === caller.userId ? { id } : null,
  );

export const references = {
  WebhookSubscription: managedReferences(WebhookSubscription, { deletedAt: null }),
  WebhookDelivery: managedReferences(WebhookDelivery),
  WebhookJob: managedReferences(WebhookJob),
  InboundReceipt: receiptReferences,
  User: userReferences,
  OAuthClient: stubReferences,
  PlatformEvent: stubReferences,
  EventType: stubReferences,
} satisfies Readonly<Record<string, ReferenceLoader>>;
