import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { requireValid, type Violation } from '../../../runtime/request/errors.js';
import { systemClock } from '../../../runtime/time/clock.js';
import { HealthIncidentCause, ServiceHealthStatus } from '../entities/health.js';
import { PlatformService } from '../entities/registry.js';
import type { UpdatePlatformServiceInput } from '../inputs/registry.js';
import { isServiceAddress, settingsOf } from '../ports/settings.js';
import { when } from '../rules/violations.js';
import { closeIncident } from './incidents.js';

const ADDRESS = 'must be public https on port 443, or lie in the internal networks';

function violationsOf(ctx: Context, { critical, baseUrl, openapiUrl }: UpdatePlatformServiceInput): Violation[] {
  const isForeign = (url: URL | null | undefined): boolean => url != null && !isServiceAddress(url, settingsOf(ctx.host).internal);
  return [
    ...when(critical === null, '/input/critical', 'must be true or false'),
    ...when(isForeign(baseUrl), '/input/baseUrl', ADDRESS),
    ...when(isForeign(openapiUrl), '/input/openapiUrl', ADDRESS),
  ];
}

const UNSEEN = { healthStatus: ServiceHealthStatus.UNKNOWN, healthSince: null, checkedAt: null, latencyMs: null, consecutiveFailures: 0 };

/** Another address is another thing to look at: nothing of what was seen of the old one holds for it. */
async function forgetHealth(ctx: Context, service: PlatformService): Promise<void> {
  Object.assign(service, UNSEEN, { recentChecks: [], checks: [] });
  await closeIncident(ctx, service.slug, HealthIncidentCause.HEALTH, systemClock.now());
}

/** @throws Problem invalid_request, not_found. */
export async function updateService(ctx: Context, input: UpdatePlatformServiceInput): Promise<PlatformService> {
  const { slug, ...fields } = input;
  requireValid(violationsOf(ctx, input));
  const service = await lockRow(ctx, PlatformService, { slug });
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const before = service.baseUrl;
  Object.assign(service, Object.fromEntries(given.map(([name, value]) => [name, value instanceof URL ? value.href : value])));
  if (service.baseUrl !== before) await forgetHealth(ctx, service);
  ctx.audit('platform_service.updated', slug, { fields: given.map(([name]) => name) });
  return service;
}
