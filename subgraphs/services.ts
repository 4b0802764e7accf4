import type { Slug } from '../events/slugs.js';
import type { ServiceDeclaration } from '../runtime/service.js';

type Load = () => Promise<ServiceDeclaration>;

const declared = (module: Promise<{ default: ServiceDeclaration }>): Promise<ServiceDeclaration> => module.then(loaded => loaded.default);

/** The one list of services that exist; each is loaded only by a process that hosts it. */
export const SERVICES: Partial<Record<Slug, Load>> = {
  identity: () => declared(import('./identity/index.js')),
  platform: () => declared(import('./platform/index.js')),
  accounting: () => declared(import('./accounting/index.js')),
  clinical: () => declared(import('./clinical/index.js')),
  entitlements: () => declared(import('./entitlements/index.js')),
  membership: () => declared(import('./membership/index.js')),
  webhooks: () => declared(import('./webhooks/index.js')),
  events: () => declared(import('./events/index.js')),
  jobs: () => declared(import('./jobs/index.js')),
  intelligence: () => declared(import('./intelligence/index.js')),
  content: () => declared(import('./content/index.js')),
  payments: () => declared(import('./payments/index.js')),
  workflow: () => declared(import('./workflow/index.js')),
  cash: () => declared(import('./cash/index.js')),
  comms: () => declared(import('./comms/index.js')),
  live: () => declared(import('./live/index.js')),
  affiliates: () => declared(import('./affiliates/index.js')),
  commerce: () => declared(import('./commerce/index.js')),
};
