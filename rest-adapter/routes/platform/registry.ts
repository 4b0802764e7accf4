import { get, patch, post, type Route } from '../../route.js';

const INCIDENT = 'id service cause startedAt endedAt worst samples';
const SERVICE = `slug name purpose maturity productionReady critical baseUrl openapiUrl lastDeployedVersion uptime
  health { status checkedAt latencyMs consecutiveFailures since checks { name status } lastSeen }`;
const CANARY = 'id kind origin sentAt receivedAt latencyMs status';
const LAST = '{ status sentAt latencyMs inTime }';
const HEALTH = `status services { slug maturity critical health { status checkedAt latencyMs consecutiveFailures since } }
  canaries { bus ${LAST} workflow ${LAST} } checkedAt`;
const VIEW = 'schema view columns omitted { column reason } drift checkedAt';

/** Where a service runs is not for users. */
const INTERNAL = ['base_url'];

const routes: Route[] = [
  get('/v1/services', 'platformServices', SERVICE, 'List the services of the suite', { omitNull: INTERNAL }),
  get('/v1/services/{slug}', 'platformService', SERVICE, 'Read a service of the suite', { omitNull: INTERNAL }),
  patch('/v1/admin/services/{slug}', 'updatePlatformService', SERVICE, 'Change what the registry says of a service', {
    example: { request: { maturity: 'beta', production_ready: false } },
  }),
  get('/v1/health', 'suiteHealth', HEALTH, 'Read the verdict over all services, from memory'),
  get('/v1/health/incidents', 'healthIncidents', INCIDENT, 'List incidents, newest first'),
  get('/v1/canaries', 'canaryProbes', CANARY, 'List the probes through the bus and workflows, newest first'),
  post('/v1/admin/canaries/run', 'runCanary', CANARY, 'Send a probe over the bus', {
    status: 202,
    location: '/v1/canaries',
    problems: { 409: 'The workflow service sends its own' },
    example: { request: { kind: 'bus' } },
  }),
  get('/v1/admin/safe-views', 'safeViews', VIEW, 'List what the read-only role sees, as of the last daily comparison'),
];

export default routes;
