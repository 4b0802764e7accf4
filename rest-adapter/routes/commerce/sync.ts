import { get, post, type Route } from '../../route.js';

const JOB = `id kind status brandId dryRun cursor counts { seen created updated unchanged skipped failed } failures { externalId entityId code }
  startedAt finishedAt createdAt`;
const ITS = '/v1/admin/sync/{id}';

const start = (path: Route['path'], kind: string, as: string, summary: string): Route =>
  post(path, 'startCommerceSync', JOB, summary, {
    as,
    constant: { kind },
    status: 202,
    location: ITS,
    problems: { 409: 'Such a run is under way' },
    example: { request: { dry_run: true } },
  });

export const sync: Route[] = [
  start('/v1/products/sync', 'PRODUCTS', 'syncProducts', 'Take the products of the storefront over'),
  start('/v1/admin/sync/channel-orders', 'CHANNEL_ORDERS', 'syncChannelOrders', 'Take the orders of the storefront over'),
  start(
    '/v1/admin/sync/customer-profiles',
    'CUSTOMER_PROFILES',
    'syncCustomerProfiles',
    'Find out whose the customers of the storefront are',
  ),
  start('/v1/admin/sync/profiles-to-storefront', 'PROFILES_TO_STOREFRONT', 'syncProfilesToStorefront', 'Tell the storefront of buyers'),
  start(
    '/v1/admin/sync/affiliate-storefront-customer-groups',
    'AFFILIATE_CUSTOMER_GROUPS',
    'syncAffiliateCustomerGroups',
    'Tell the storefront which customers are affiliates',
  ),
  get('/v1/admin/sync', 'commerceSyncs', JOB, 'List runs of the exchange with the storefront'),
  get(ITS, 'commerceSync', JOB, 'Read a run'),
  post(`${ITS}/cancel`, 'cancelCommerceSync', JOB, 'Stop a run', { problems: { 409: 'It is over' } }),
];
