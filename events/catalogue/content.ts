import { defineEvent } from '../define.js';
import { code, data, id, int, list, oneOf, ref } from '../payload.js';

const owner = 'content' as const;

export const collectionChanged = defineEvent('content.collection.changed.v1',
  data({
    collection: code('peptides'), item_ids: list(id()), change: oneOf('published', 'updated', 'unpublished', 'deleted'),
    locale: ref('en').nullable(), version: int(7),
  }),
  { owner, when: 'Items are published, changed or removed.', user: 'none', scope: null, consumers: ['ai', 'platform'] },
);
