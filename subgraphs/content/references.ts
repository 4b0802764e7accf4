import { stubReferences } from '../../runtime/data/references.js';
import { rowReferences } from '../../runtime/data/references.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { COLLECTIONS } from './entities/collections.js';
import type { ContentCollection } from './entities/enums.js';
import { ContentRelease } from './entities/release.js';
import { PolicyAcceptance } from './entities/policy.js';
import { deliverByIds } from './queries/delivery.js';
import { defaultView } from './queries/view.js';
import { ownAcceptances } from './queries/policies.js';

/** Items as whoever asks may read them. */
const items =
  (collection: ContentCollection): ReferenceLoader =>
  async (ctx: Context, references: readonly { id: string }[]) => {
    const ids = references.map(({ id }) => id);
    const found = await deliverByIds(ctx, await defaultView(ctx), ids);
    return found.map(item => (item?.collection === collection ? item : null));
  };

export const references: Readonly<Record<string, ReferenceLoader>> = {
  ...Object.fromEntries(COLLECTIONS.map(({ type, collection }) => [type, items(collection)])),
  ContentRelease: rowReferences(ContentRelease, { readers: { service: 'admin:content', staff: 'admin:content:read' } }),
  PolicyAcceptance: rowReferences(PolicyAcceptance, { where: ownAcceptances }),
  User: stubReferences,
  Brand: stubReferences,
  Product: stubReferences,
  Biomarker: stubReferences,
};
