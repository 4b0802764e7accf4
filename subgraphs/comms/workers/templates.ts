import type { Worker } from '../../../runtime/service.js';
import { syncTemplates } from '../commands/templates.js';
import { closeProviders } from '../ports/providers.js';
import { settingsOf } from '../ports/settings.js';

/** Brings topics and templates to what the files say before anything is sent. */
export const templateSync: Worker = {
  role: 'subgraphs',
  async start(host) {
    settingsOf(host); // a wrong setting stops the start
    await syncTemplates(host);
    return { stop: () => closeProviders(host) };
  },
};

/** Lets go of the connections to providers. */
export const providerEnd: Worker = {
  role: 'scheduler',
  start: async host => ({ stop: () => closeProviders(host) }),
};
