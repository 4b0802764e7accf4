import { CATALOGUE } from '../../../events/catalogue.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { askClient } from '../ports/grant-source.js';
import { clientViolation, sortedTypes, typeViolation, type ClientFacts } from '../rules/filter.js';
import { changeConfiguration, configurationOf, type SubscriptionConfiguration } from './configuration.js';
import { endOpen } from './closings.js';
import { notify } from './notices.js';
import { setDisabled } from './subscription-states.js';

interface Open {
  id: string;
  event_types: string[];
}

const OPEN = `select id, event_types from webhooks.webhook_subscription where client_id = $1 and deleted_at is null and status in ('active', 'paused')`;
const NARROW = `
update webhooks.webhook_subscription set event_types = $2, updated_at = $3, version = version + 1, configuration_version = $4 where id = $1`;

/** The client may have no subscriptions any more. */
async function disableRemoved(ctx: Context, { id }: Open, version: string): Promise<void> {
  await setDisabled(ctx, id, 'client_inactive', version);
  const to = { status: 'cancelled', reason: 'client_removed' } as const;
  const { closed, rest } = await endOpen(ctx, { subscriptionId: id, to });
  ctx.audit('webhook_subscription.disabled', id, { status: 'disabled', reason: 'client_inactive', cancelled: closed + rest });
  await notify(ctx, id, 'disabled', 'client_inactive');
}

const isRefused = (type: string, client: ClientFacts): boolean => typeViolation(CATALOGUE.get(type), client) !== null;

/** Types whose scope the client has lost leave the filter; with the last of them the subscription is disabled, its filter kept for the record. */
async function narrow(ctx: Context, { id, event_types }: Open, client: ClientFacts, version: string): Promise<void> {
  const lost = event_types.filter(type => isRefused(type, client));
  if (lost.length === 0) return;
  const kept = sortedTypes(event_types.filter(type => !lost.includes(type)));
  const disabled = kept.length === 0;
  if (disabled) await setDisabled(ctx, id, 'scope_removed', version);
  else await ctx.sql(NARROW, [id, kept, ctx.now().toISOString(), version]);
  const to = { status: 'cancelled', reason: 'filter_changed' } as const;
  const { closed, rest } = await endOpen(ctx, { subscriptionId: id, eventTypes: lost, to });
  ctx.audit('webhook_subscription.scope_removed', id, { event_types: lost, cancelled: closed + rest, disabled });
  await (disabled ? notify(ctx, id, 'disabled', 'scope_removed') : notify(ctx, id, 'scope_removed'));
}

const hasRefused = (subscriptions: readonly SubscriptionConfiguration[], client: ClientFacts): boolean =>
  subscriptions.some(({ eventTypes }) => [...eventTypes].some(type => isRefused(type, client)));

/** What identity knows of a client is applied to its subscriptions. Source: section 3, CLIENT_INACTIVE and SCOPE_REMOVED. */
export async function checkClient(host: ServiceHost, clientId: string): Promise<void> {
  const open = configurationOf(host)
    .ofClient(clientId)
    .filter(one => one.status !== 'disabled');
  if (open.length === 0) return;
  const client = await askClient(host.federation, clientId);
  const unfit = clientViolation(client) !== null;
  if (!unfit && !hasRefused(open, client!)) return;
  await host.transaction(async ctx => {
    const version = await changeConfiguration(ctx.sql);
    for (const one of await ctx.sql<Open>(OPEN, [clientId]))
      await (unfit ? disableRemoved(ctx, one, version) : narrow(ctx, one, client!, version));
    ctx.afterCommit(() => configurationOf(host).refresh(ctx.sql));
  });
}
