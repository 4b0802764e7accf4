import type { ServiceHost } from '../../../runtime/request/context.js';
import type { RequestInfo } from '../../../runtime/request/request.js';
import type { CollectionDefinition } from '../entities/definition.js';
import { rowsOfItem } from './item-rows.js';
import { STATE, STATUSES, type ItemState } from './editors.js';

const PAGE = 100;

const NEXT = `${STATE} from content.content_item i join content.content_revision r on r.item_id = i.id and r.number = i.revision
  where i.collection = $1 and i.status = any($2::text[]) and i.id > $3 order by i.id limit ${PAGE}`;

const FIRST = '00000000-0000-0000-0000-000000000000';

/** Newest revisions of a collection by their ids, a page in memory at a time. @param statuses those that are wanted. */
export async function* itemRowPages(
  host: ServiceHost,
  request: RequestInfo,
  definition: CollectionDefinition,
  statuses: keyof typeof STATUSES | 'PUBLISHED',
): AsyncGenerator<Record<string, unknown>[]> {
  const wanted = statuses === 'PUBLISHED' ? ['PUBLISHED'] : STATUSES[statuses];
  for (let last = FIRST; ;) {
    const ctx = await host.context({ ...request, contexts: new Map() });
    const items = await ctx.sql<ItemState>(NEXT, [definition.collection, wanted, last]);
    if (items.length > 0) yield items.flatMap(item => rowsOfItem(definition, item));
    if (items.length < PAGE) return;
    last = items.at(-1)!.id;
  }
}
