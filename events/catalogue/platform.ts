import { defineEvent } from '../define.js';
import { code, data, id, int, list, ts } from '../payload.js';
import { SLUGS } from '../slugs.js';

const owner = 'platform' as const;

export const brandCacheInvalidated = defineEvent('platform.brand.cache_invalidated.v1',
  data({ brand_id: id(), keys: list(code('flags')), version: int(7) }),
  { owner, when: 'Brand configuration or a flag of the brand changes.', user: 'none', scope: null, consumers: SLUGS },
);

export const platformCanary = defineEvent('platform.canary.v1',
  data({ probe_id: id(), sent_at: ts(), origin: code('platform') }),
  { owner, when: 'A probe, once a minute.', user: 'none', scope: null, consumers: ['events', 'platform'] },
);
