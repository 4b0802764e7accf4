import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { CATALOGUE } from '../../../events/catalogue.js';
import type { EventDefinition } from '../../../events/define.js';
import { Access, checkAccess, ruleOf } from '../../../runtime/access.js';
import type { Context } from '../../../runtime/context.js';
import { fail } from '../../../runtime/errors.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/page.js';
import { WebhookEventType, WebhookEventTypeConnection } from '../entities/event-type.js';
import { READERS } from '../entities/subscription.js';
import { WebhookEventTypesArgs } from '../inputs/event-type.js';
import { askClient } from '../ports/grant-source.js';
import { clientViolation, typeViolation, type ClientFacts } from '../rules/filter.js';

/** Ids and time of the examples; nobody's. */
const EXAMPLE = {
  id: '0190b3a0-0000-7000-8000-00000000e0e0',
  user_id: '00000000-0000-0000-0000-000000000000',
  occurred_at: '2026-11-20T09:30:00.000Z',
};
const EXAMPLE_CLIENT = 'your-client-id';

type Scoped = EventDefinition & { scope: string };

/** Types with a scope by name; the others never leave the platform. */
const SCOPED: readonly Scoped[] = [...CATALOGUE.values()]
  .filter((type): type is Scoped => type.scope !== null)
  .sort((a, b) => (a.name < b.name ? -1 : 1));

function shown(type: Scoped, clientId: string | null, client: ClientFacts | null): WebhookEventType {
  const { name, when, scope, sensitive, schema, examples, deprecated } = type;
  const { id, user_id, occurred_at } = EXAMPLE;
  return {
    name,
    description: when,
    scope,
    sensitive,
    granted: client?.scopes.includes(scope) ?? false,
    subscribable: client !== null && typeViolation(type, client) === null,
    jsonSchema: z.toJSONSchema(schema),
    example: { id, type: name, user_id, client_id: clientId ?? EXAMPLE_CLIENT, occurred_at, data: examples[0] },
    deprecatedAt: deprecated ? new Date(deprecated.at) : null,
  };
}

function matches({ name, when, scope }: Scoped, { scope: wanted, q }: WebhookEventTypesArgs): boolean {
  const text = `${name} ${when}`.toLowerCase();
  return (wanted == null || scope === wanted) && (q == null || text.includes(q.toLowerCase()));
}

/** Facts of the named client. @throws Problem insufficient_scope for a caller who manages none; invalid_request for an unknown client. */
async function clientOf(ctx: Context, clientId: string | null | undefined): Promise<ClientFacts | null> {
  if (clientId == null) return null;
  checkAccess(ruleOf(READERS), ctx.caller);
  const client = await askClient(ctx.federation, clientId);
  const unfit = clientViolation(client);
  if (unfit) fail('invalid_request', 'The input is invalid', { errors: [{ pointer: '/clientId', message: unfit }] });
  return client;
}

@Resolver(() => WebhookEventType)
export class EventTypeResolver {
  @Access({ service: '*', staff: READERS.staff })
  @Query(() => WebhookEventTypeConnection, { description: 'Event types that can be subscribed to, by name.' })
  async webhookEventTypes(
    @Args(() => WebhookEventTypesArgs) args: WebhookEventTypesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookEventType>> {
    const client = await clientOf(ctx, args.clientId);
    const after = args.after ? String(decodeCursor(args.after, 1)[0]) : '';
    const types = SCOPED.filter(type => type.name > after && matches(type, args)).slice(0, args.first + 1);
    return toConnection(
      types.map(type => shown(type, args.clientId ?? null, client)),
      args.first,
      type => [type.name],
    );
  }
}
