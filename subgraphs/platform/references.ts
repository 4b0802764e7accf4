import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { isUuid } from '../../runtime/data/ids.js';
import { rowReferences } from '../../runtime/data/references.js';
import { holdsPermission } from '../../runtime/request/caller.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { CANARY_READERS, FLAG_OPERATORS, SAFE_VIEW_READERS } from './entities/access.js';
import { Brand } from './entities/brand.js';
import { FlagChange } from './entities/flag-change.js';
import { FeatureFlag } from './entities/flag.js';
import { CanaryProbe } from './entities/health.js';
import { PlatformService } from './entities/registry.js';
import { SafeView } from './entities/safe-view.js';
import { visibleBrands } from './queries/brands.js';

/** By id or by slug, the two keys of a brand. */
const brands: ReferenceLoader = async (ctx, keys: readonly { id?: string; slug?: string }[]) => {
  const ids = keys.flatMap(({ id }) => (id !== undefined && isUuid(id) ? [id.toLowerCase()] : []));
  const slugs = keys.flatMap(({ slug }) => slug ?? []);
  const rows = await ctx.em.find(Brand, { $or: [{ id: { $in: ids } }, { slug: { $in: slugs } }], ...visibleBrands(ctx.caller) });
  return keys.map(({ id, slug }) => rows.find(row => (id === undefined ? row.slug === slug : row.id === id.toLowerCase())) ?? null);
};

const safeViews: ReferenceLoader = async (ctx, keys: readonly { schema: string; view: string }[]) => {
  if (!mayAccess(ruleOf(SAFE_VIEW_READERS), ctx.caller)) return keys.map(() => null);
  const where = { schema: { $in: keys.map(({ schema }) => schema) }, view: { $in: keys.map(({ view }) => view) } };
  const rows = await ctx.em.find(SafeView, where);
  return keys.map(({ schema, view }) => rows.find(row => row.schema === schema && row.view === view) ?? null);
};

/** A user token sees itself, unless its staff role may read the platform; what a service sees is decided by the field's rule. */
const users: ReferenceLoader = async ({ caller }, keys: readonly { id: string }[]) => {
  const seesAll = caller.kind !== 'user' || holdsPermission(caller, 'admin:platform:read');
  return keys.map(({ id }) => (seesAll || id === caller.userId ? { id } : null));
};

export const references: Readonly<Record<string, ReferenceLoader>> = {
  Brand: brands,
  FeatureFlag: rowReferences(FeatureFlag, { key: 'key', readers: FLAG_OPERATORS }),
  FlagChange: rowReferences(FlagChange, { readers: FLAG_OPERATORS }),
  CanaryProbe: rowReferences(CanaryProbe, { readers: CANARY_READERS }),
  PlatformService: rowReferences(PlatformService, { key: 'slug' }),
  SafeView: safeViews,
  User: users,
};
