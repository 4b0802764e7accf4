import type { EventDefinition } from './define.js';
import * as accounting from './catalogue/accounting.js';
import * as affiliates from './catalogue/affiliates.js';
import * as ai from './catalogue/ai.js';
import * as analytics from './catalogue/analytics.js';
import * as booking from './catalogue/booking.js';
import * as cash from './catalogue/cash.js';
import * as clinical from './catalogue/clinical.js';
import * as commerce from './catalogue/commerce.js';
import * as comms from './catalogue/comms.js';
import * as community from './catalogue/community.js';
import * as content from './catalogue/content.js';
import * as follows from './catalogue/follows.js';
import * as identity from './catalogue/identity.js';
import * as integrations from './catalogue/integrations.js';
import * as intelligence from './catalogue/intelligence.js';
import * as live from './catalogue/live.js';
import * as membership from './catalogue/membership.js';
import * as messaging from './catalogue/messaging.js';
import * as partner from './catalogue/partner.js';
import * as patientGraph from './catalogue/patient-graph.js';
import * as payments from './catalogue/payments.js';
import * as platform from './catalogue/platform.js';
import * as webhooks from './catalogue/webhooks.js';
import * as workflow from './catalogue/workflow.js';

const DOMAINS: readonly object[] = [
  accounting,
  affiliates,
  ai,
  analytics,
  booking,
  cash,
  clinical,
  commerce,
  comms,
  community,
  content,
  follows,
  identity,
  integrations,
  intelligence,
  live,
  membership,
  messaging,
  partner,
  patientGraph,
  payments,
  platform,
  webhooks,
  workflow,
];

/** Every declared event type by name. */
export const CATALOGUE: ReadonlyMap<string, EventDefinition> = new Map(
  DOMAINS.flatMap(domain => Object.values(domain) as EventDefinition[]).map(event => [event.name, event]),
);
