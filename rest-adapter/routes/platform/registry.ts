import { bodyKey, input, path, query, type Route } from '../../route.js';

const INCIDENT = 'id service cause startedAt endedAt worst samples';
const SERVICE = `slug name purpose maturity productionReady critical baseUrl openapiUrl lastDeployedVersion uptime
  health { status checkedAt latencyMs consecutiveFailures since checks { name status } lastSeen }`;
const CANARY = 'id kind origin sentAt receivedAt latencyMs status';
const LAST = '{ status sentAt latencyMs inTime }';

/** What users are not told of. */
const INSIDE = ['base_url'];

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/services',
    status: [200],
    summary: 'List the services of the suite',
    document: `query PlatformServices($maturity: PlatformServiceMaturity, $productionReady: Boolean, $health: ServiceHealthStatus) {
      result: platformServices(maturity: $maturity, productionReady: $productionReady, health: $health) { ${SERVICE} }
    }`,
    variables: { maturity: query('maturity'), productionReady: query('production_ready'), health: query('health') },
    omitNull: INSIDE,
  },
  {
    method: 'GET',
    path: '/v1/services/{slug}',
    status: [200],
    summary: 'Read a service of the suite',
    document: `query PlatformService($slug: String!) { result: platformService(slug: $slug) { ${SERVICE} } }`,
    variables: { slug: path('slug') },
    omitNull: INSIDE,
  },
  {
    method: 'PATCH',
    path: '/v1/admin/services/{slug}',
    status: [200],
    summary: 'Change what the registry says of a service',
    document: `mutation UpdatePlatformService($input: UpdatePlatformServiceInput!) { result: updatePlatformService(input: $input) { ${SERVICE} } }`,
    variables: { input: input({ path: ['slug'] }) },
    example: { request: { maturity: 'beta', production_ready: false } },
  },
  {
    method: 'GET',
    path: '/v1/health',
    status: [200],
    summary: 'Read the verdict over all services, from memory',
    document: `query SuiteHealth { result: suiteHealth { status
      services { slug maturity critical health { status checkedAt latencyMs consecutiveFailures since } }
      canaries { bus ${LAST} workflow ${LAST} } checkedAt } }`,
  },
  {
    method: 'GET',
    path: '/v1/health/incidents',
    status: [200],
    summary: 'List incidents, newest first',
    document: `query HealthIncidents($service: String, $open: Boolean, $first: Int, $after: String) {
      result: healthIncidents(service: $service, open: $open, first: $first, after: $after) { nodes { ${INCIDENT} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { service: query('service'), open: query('open') },
  },
  {
    method: 'GET',
    path: '/v1/canaries',
    status: [200],
    summary: 'List the probes through the bus and workflows, newest first',
    document: `query CanaryProbes($kind: CanaryKind, $status: CanaryProbeStatus, $first: Int, $after: String) {
      result: canaryProbes(kind: $kind, status: $status, first: $first, after: $after) { nodes { ${CANARY} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { kind: query('kind'), status: query('status') },
  },
  {
    method: 'POST',
    path: '/v1/admin/canaries/run',
    status: [202],
    location: '/v1/canaries',
    summary: 'Send a probe over the bus',
    document: `mutation RunCanary($kind: CanaryKind!) { result: runCanary(kind: $kind) { ${CANARY} } }`,
    variables: { kind: bodyKey('kind') },
    example: { request: { kind: 'bus' } },
    problems: { 409: 'The workflow service sends its own' },
  },
  {
    method: 'GET',
    path: '/v1/admin/safe-views',
    status: [200],
    summary: 'List what the read-only role sees, as of the last daily comparison',
    document: `query SafeViews($schema: String, $drift: Boolean) {
      result: safeViews(schema: $schema, drift: $drift) { schema view columns omitted { column reason } drift checkedAt }
    }`,
    variables: { schema: query('schema'), drift: query('drift') },
  },
];

export default routes;
