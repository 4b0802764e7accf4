import { code, data, defineEvent, id, int, list } from '../define.js';

export const brandCacheInvalidated = defineEvent(
  'platform.brand.cache_invalidated.v1',
  data({ brand_id: id(), keys: list(code()), version: int() }),
  {
    owner: 'platform', when: 'Brand configuration or a flag of the brand changes.', user: 'none', scope: null,
    examples: [{ brand_id: '0190b3a0-0000-7000-8000-000000000001', keys: ['flags'], version: 7 }],
  },
);
