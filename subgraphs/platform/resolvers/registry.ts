import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, Float, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { systemClock } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { HealthIncident, HealthIncidentCause, ServiceHealth, ServiceHealthStatus } from '../entities/health.js';
import { PlatformService } from '../entities/registry.js';
import { PlatformServicesArgs } from '../inputs/lists.js';
import { UpdatePlatformServiceInput } from '../inputs/registry.js';
import { isServiceAddress, settingsOf } from '../ports/settings.js';
import { shownStatus, uptimeOf } from '../rules/health.js';
import { closeIncident } from '../commands/incidents.js';

const DAY_MS = 86_400_000;

/** Services and the platform's staff see addresses and what stands behind a verdict; users do not. */
const INSIDERS = ruleOf({ service: '*', staff: 'admin:platform:read' });

/** The health of a service as a caller may see it. */
export function healthOf(ctx: Context, service: PlatformService): ServiceHealth {
  const { checkedAt, latencyMs, consecutiveFailures, healthSince: since } = service;
  const status = shownStatus(service.healthStatus, checkedAt, systemClock.now());
  const inside = mayAccess(INSIDERS, ctx.caller);
  return {
    status,
    checkedAt,
    latencyMs,
    consecutiveFailures,
    since,
    checks: inside ? service.checks : null,
    lastSeen: inside ? service.lastSeen : null,
  };
}

/** Incidents of services in a span that ends now: one statement. */
const during = (ctx: Context, slugs: readonly string[], from: Date): Promise<HealthIncident[]> =>
  ctx.em.find(HealthIncident, {
    service: { $in: [...slugs] },
    cause: HealthIncidentCause.HEALTH,
    $or: [{ endedAt: null }, { endedAt: { $gt: from } }],
  });

async function uptimesOf(ctx: Context, slugs: readonly string[], days: number): Promise<number[]> {
  const now = systemClock.now();
  const from = new Date(now.getTime() - days * DAY_MS);
  const incidents = await during(ctx, slugs, from);
  return slugs.map(slug =>
    uptimeOf(
      from,
      now,
      incidents.filter(({ service }) => service === slug),
    ),
  );
}

const NEWEST = `
  select id from (select id, row_number() over (partition by service order by started_at desc, id desc) as place from platform.health_incident
  where service = any ($1)) i where place <= $2`;

async function incidentsOf(ctx: Context, slugs: readonly string[], first: number): Promise<HealthIncident[][]> {
  const ids = (await ctx.sql<{ id: string }>(NEWEST, [slugs, first])).map(({ id }) => id);
  const rows = await ctx.em.find(HealthIncident, { id: { $in: ids } }, { orderBy: { startedAt: 'desc', id: 'desc' } });
  return slugs.map(slug => rows.filter(({ service }) => service === slug));
}

const when = (wrong: boolean, pointer: string, message: string): Violation[] => (wrong ? [{ pointer, message }] : []);

function violationsOf(ctx: Context, { critical, baseUrl, openapiUrl }: UpdatePlatformServiceInput): Violation[] {
  const { internal } = settingsOf(ctx.host);
  return [
    ...when(critical === null, '/input/critical', 'must be true or false'),
    ...when(baseUrl != null && !isServiceAddress(baseUrl, internal), '/input/baseUrl', 'must be https, or http in the internal networks'),
    ...when(
      openapiUrl != null && !isServiceAddress(openapiUrl, internal),
      '/input/openapiUrl',
      'must be https, or http in the internal networks',
    ),
  ];
}

const UNSEEN = { healthStatus: ServiceHealthStatus.UNKNOWN, healthSince: null, checkedAt: null, latencyMs: null, consecutiveFailures: 0 };

/** Another address is another thing to look at: what was seen of the old one says nothing about it. */
async function forgetHealth(ctx: Context, service: PlatformService): Promise<void> {
  Object.assign(service, UNSEEN, { recentChecks: [], checks: [] });
  await closeIncident(ctx, service.slug, HealthIncidentCause.HEALTH, systemClock.now());
}

@Resolver(() => PlatformService)
export class RegistryResolver {
  @Access({ service: '*', user: '*' })
  @Query(() => [PlatformService], { description: 'The services of the suite by slug.' })
  async platformServices(
    @Args(() => PlatformServicesArgs) { maturity, productionReady, health }: PlatformServicesArgs,
    @Ctx() ctx: Context,
  ): Promise<PlatformService[]> {
    const where = { ...(maturity && { maturity }), ...(productionReady != null && { productionReady }) };
    const rows = await ctx.em.find(PlatformService, where, { orderBy: { slug: 'asc' } });
    return health ? rows.filter(row => healthOf(ctx, row).status === health) : rows;
  }

  @Access({ service: '*', user: '*' })
  @Query(() => PlatformService, { nullable: true })
  platformService(@Arg('slug', () => String) slug: string, @Ctx() ctx: Context): Promise<PlatformService | null> {
    return ctx.em.findOne(PlatformService, { slug });
  }

  @Access({ service: 'admin:platform', staff: 'admin:platform:services' })
  @Mutation(() => PlatformService)
  async updatePlatformService(
    @Arg('input', () => UpdatePlatformServiceInput) input: UpdatePlatformServiceInput,
    @Ctx() ctx: Context,
  ): Promise<PlatformService> {
    const { slug, ...fields } = input;
    const errors = violationsOf(ctx, input);
    requireValid(errors);
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const service = (await ctx.em.findOne(PlatformService, { slug }, options)) ?? fail('not_found', 'Not found');
    const said = Object.entries(fields).filter(([, value]) => value !== undefined);
    const before = service.baseUrl;
    Object.assign(service, Object.fromEntries(said.map(([name, value]) => [name, value instanceof URL ? value.href : value])));
    if (service.baseUrl !== before) await forgetHealth(ctx, service);
    ctx.audit('platform_service.updated', slug, { fields: said.map(([name]) => name) });
    return service;
  }

  @FieldResolver(() => Url, { nullable: true, description: 'Where it answers, if not where the configuration says; null to users.' })
  baseUrl(@Root() { baseUrl }: PlatformService, @Ctx() ctx: Context): string | null {
    return mayAccess(INSIDERS, ctx.caller) ? baseUrl : null;
  }

  @FieldResolver(() => ServiceHealth)
  health(@Root() service: PlatformService, @Ctx() ctx: Context): ServiceHealth {
    return healthOf(ctx, service);
  }

  @FieldResolver(() => Float, { description: 'Share of the last days in which it was not down, 0 to 1.' })
  async uptime(
    @Root() { slug }: PlatformService,
    @Rule({ min: 1, max: 365 }) @Arg('days', () => Int, { defaultValue: 30 }) days: number,
    @Ctx() ctx: Context,
  ): Promise<number> {
    return (await ctx.load(`service:uptime:${days}`, slug, slugs => uptimesOf(ctx, slugs, days))) ?? 1;
  }

  @Access({ service: '*', staff: 'admin:platform:read' })
  @FieldResolver(() => [HealthIncident], { description: 'Newest first.' })
  async incidents(
    @Root() { slug }: PlatformService,
    @Rule({ min: 1, max: 100 }) @Arg('first', () => Int, { defaultValue: 20 }) first: number,
    @Ctx() ctx: Context,
  ): Promise<HealthIncident[]> {
    return (await ctx.load(`service:incidents:${first}`, slug, slugs => incidentsOf(ctx, slugs, first))) ?? [];
  }
}
