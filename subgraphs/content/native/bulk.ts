import { ruleOf } from '../../../runtime/access/access.js';
import { bulkPaths, type BulkSetting } from '../../../runtime/bulk/routes.js';
import { invalid } from '../../../runtime/request/errors.js';
import { itemImport } from '../commands/import.js';
import { COLLECTIONS } from '../entities/collections.js';
import type { CollectionDefinition } from '../entities/definition.js';
import { brandsOf } from '../ports/brands.js';
import { itemRowPages } from '../queries/rows.js';
import { columnsOf } from '../queries/item-rows.js';

const SERVICE = 'admin:content';
const STATUSES = { draft: 'DRAFT', published: 'PUBLISHED', archived: 'ARCHIVED', all: 'ALL' } as const;

const isStatus = (text: string): text is keyof typeof STATUSES => Object.hasOwn(STATUSES, text);

function collectionOf(name: string | undefined): CollectionDefinition {
  const found = COLLECTIONS.find(one => one.collection.toLowerCase() === name);
  return found ?? invalid('/collection', `must be one of ${COLLECTIONS.map(one => one.collection.toLowerCase()).join(', ')}`);
}

/** Items of a collection, a row for each of their locales. Source: content 4.2. */
export const items: BulkSetting = {
  path: '/v1/admin',
  of: 'items of a collection',
  editors: ruleOf({ service: SERVICE, staff: 'admin:content:write' }),
  readers: ruleOf({ service: SERVICE, staff: 'admin:content:read' }),
  importKeys: ['collection'],
  exportKeys: ['collection', 'status'],
  async open(host, request, { collection, status = 'all' }) {
    const definition = collectionOf(collection);
    if (!isStatus(status)) return invalid('/status', `must be one of ${Object.keys(STATUSES).join(', ')}`);
    const brands = await brandsOf(await host.context(request));
    return {
      ...columnsOf(definition),
      take: itemImport(host, definition, brands),
      pages: () => itemRowPages(host, request, definition, STATUSES[status]),
    };
  },
};

export const itemPaths = bulkPaths(items);
