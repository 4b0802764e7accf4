import { stubReferences } from '../../runtime/data/references.js';
import { rowReferences } from '../../runtime/data/references.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { COLLECTIONS } from './entities/collections.js';
import { ContentRelease } from './entities/release.js';
import { PolicyAcceptance } from './entities/policy.js';
import { deliverByIds } from './queries/delivery.js';
import { defaultView } from './queries/view.js';
import { ownAcceptances } from './queries/policies.js';

/** Items as whoever asks may read them. */
const items: ReferenceLoader = async (ctx: Context, references: readonly { id: string }[]) =>
  deliverByIds(
    ctx,
    await defaultView(ctx),
    references.map(({ id }) => id),
  );

export const references: Readonly<Record<string, ReferenceLoader>> = {
  ...Object.fromEntries(COLLECTIONS.map(({ type }) => [type, items])),
  ContentRelease: rowReferences(ContentRelease, { readers: { service: 'admin:content', staff: 'admin:content:read' } }),
  PolicyAcceptance: rowReferences(PolicyAcceptance, { where: ownAcceptances }),
  User: stubReferences,
  Brand: stubReferences,
  Product: stubReferences,
  Biomarker: stubReferences,
};
