import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { CATALOGUE } from '../../../events/catalogue.js';
import type { EventDefinition } from '../../../events/define.js';
import { dataSchemaOf } from '../../../events/json-schema.js';
import { Access, checkAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { WebhookEventType, WebhookEventTypeConnection } from '../entities/event-type.js';
import { READERS } from '../entities/subscription.js';
import { WebhookEventTypesArgs } from '../inputs/event-type.js';
import { askClient } from '../ports/grant-source.js';
import { checkManages } from '../queries/managed.js';
import { clientViolation, typeViolation, type ClientFacts } from '../rules/filter.js';
import { exampleBody, signedSample } from '../rules/sample.js';

export type Scoped = EventDefinition & { scope: string };

/** Types with a scope by name; the others never leave the platform. */
export const SCOPED: readonly Scoped[] = [...CATALOGUE.values()]
  .filter((type): type is Scoped => type.scope !== null)
  .sort((a, b) => (a.name < b.name ? -1 : 1));

function shown(type: Scoped, clientId: string | null, client: ClientFacts | null): WebhookEventType {
  const { name, when, scope, sensitive, deprecated } = type;
  const example = exampleBody(type, clientId);
  return {
    name,
    description: when,
    scope,
    sensitive,
    granted: client?.scopes.includes(scope) ?? false,
    subscribable: client !== null && typeViolation(type, client) === null,
    jsonSchema: dataSchemaOf(type),
    example,
    sampleSignature: signedSample(example),
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
  await checkManages(ctx, clientId);
  const client = await askClient(ctx.federation, clientId);
  const unfit = clientViolation(client);
  if (unfit) invalid('/clientId', unfit);
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
  @Access({ service: '*', staff: READERS.staff })
  @Query(() => WebhookEventType, { nullable: true, description: 'Null also for a type that never leaves the platform.' })
  async webhookEventType(
    @Arg('name', () => String) name: string,
    @Arg('clientId', () => String, { nullable: true }) clientId: string | null | undefined,
    @Ctx() ctx: Context,
  ): Promise<WebhookEventType | null> {
    const client = await clientOf(ctx, clientId);
    const type = SCOPED.find(one => one.name === name);
    return type ? shown(type, clientId ?? null, client) : null;
  }
}
