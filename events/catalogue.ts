import type { EventDefinition } from './define.js';
import * as clinical from './catalogue/clinical.js';
import * as comms from './catalogue/comms.js';
import * as identity from './catalogue/identity.js';
import * as platform from './catalogue/platform.js';

/** Every declared event type by name. */
export const CATALOGUE: ReadonlyMap<string, EventDefinition> = new Map(
  [clinical, comms, identity, platform].flatMap(domain => Object.values(domain) as EventDefinition[]).map(event => [event.name, event]),
);
