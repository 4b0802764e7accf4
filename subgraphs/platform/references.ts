import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { holdsPermission, type Caller } from '../../runtime/request/caller.js';
import type { Context } from '../../runtime/request/context.js';
import { isUuid } from '../../runtime/data/ids.js';
import { Brand, BrandStatus } from './entities/brand.js';
import { FlagChange } from './entities/flag-change.js';
import { FeatureFlag } from './entities/flag.js';
import { CanaryProbe } from './entities/health.js';
import { PlatformService } from './entities/registry.js';
import { SafeView } from './entities/safe-view.js';

@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

const READ_BRANDS = ['admin:platform:read', 'admin:platform:brands'];

/** The brands that a caller may see: services and brand staff all of them, everybody else the active ones. */
export const visibleBrands = (caller: Caller): { status?: BrandStatus } =>
  caller.kind === 'service' || caller.kind === 'system' || READ_BRANDS.some(one => holdsPermission(caller, one))
    ? {}
    : { status: BrandStatus.ACTIVE };

type BrandKey = { id?: string; slug?: string };

async function brands(ctx: Context, keys: readonly BrandKey[]): Promise<(Brand | null)[]> {
  const ids = keys.flatMap(({ id }) => (id !== undefined && isUuid(id) ? [id.toLowerCase()] : []));
  const slugs = keys.flatMap(({ slug }) => slug ?? []);
  const rows = await ctx.em.find(Brand, { $or: [{ id: { $in: ids } }, { slug: { $in: slugs } }], ...visibleBrands(ctx.caller) });
  return keys.map(({ id, slug }) => rows.find(row => (id === undefined ? row.slug === slug : row.id === id.toLowerCase())) ?? null);
}

export const FLAG_OPERATORS = { service: 'admin:platform', staff: 'admin:platform:flags' } as const;

async function featureFlags(ctx: Context, keys: readonly { key: string }[]): Promise<(FeatureFlag | null)[]> {
  if (!mayAccess(ruleOf(FLAG_OPERATORS), ctx.caller)) return keys.map(() => null);
  const rows = await ctx.em.find(FeatureFlag, { key: { $in: keys.map(({ key }) => key) } });
  return keys.map(({ key }) => rows.find(row => row.key === key) ?? null);
}

async function flagChanges(ctx: Context, keys: readonly { id: string }[]): Promise<(FlagChange | null)[]> {
  if (!mayAccess(ruleOf(FLAG_OPERATORS), ctx.caller)) return keys.map(() => null);
  const rows = await ctx.em.find(FlagChange, { id: { $in: keys.map(({ id }) => id).filter(isUuid) } });
  return keys.map(({ id }) => rows.find(row => row.id === id.toLowerCase()) ?? null);
}

const CANARY_READERS = ruleOf({ service: 'admin:platform', staff: 'admin:platform:read|admin:platform:services' });

async function canaryProbes(ctx: Context, keys: readonly { id: string }[]): Promise<(CanaryProbe | null)[]> {
  if (!mayAccess(CANARY_READERS, ctx.caller)) return keys.map(() => null);
  const rows = await ctx.em.find(CanaryProbe, { id: { $in: keys.map(({ id }) => id).filter(isUuid) } });
  return keys.map(({ id }) => rows.find(row => row.id === id.toLowerCase()) ?? null);
}

const VIEW_READERS = ruleOf({ service: 'admin:platform', staff: 'admin:platform:read' });

async function safeViews(ctx: Context, keys: readonly { schema: string; view: string }[]): Promise<(SafeView | null)[]> {
  if (!mayAccess(VIEW_READERS, ctx.caller)) return keys.map(() => null);
  const rows = await ctx.em.find(SafeView, {
    schema: { $in: keys.map(({ schema }) => schema) },
    view: { $in: keys.map(({ view }) => view) },
  });
  return keys.map(({ schema, view }) => rows.find(row => row.schema === schema && row.view === view) ?? null);
}

async function services(ctx: Context, keys: readonly { slug: string }[]): Promise<(PlatformService | null)[]> {
  const rows = await ctx.em.find(PlatformService, { slug: { $in: keys.map(({ slug }) => slug) } });
  return keys.map(({ slug }) => rows.find(row => row.slug === slug) ?? null);
}

/** A user token sees itself, unless its staff role may read the platform; what a service sees, the field's rule says. */
const users = async ({ caller }: Context, keys: readonly { id: string }[]): Promise<({ id: string } | null)[]> => {
  const seesAll = caller.kind !== 'user' || holdsPermission(caller, 'admin:platform:read');
  return keys.map(({ id }) => (seesAll || id === caller.userId ? { id } : null));
};

export const references = {
  Brand: brands,
  FeatureFlag: featureFlags,
  FlagChange: flagChanges,
  CanaryProbe: canaryProbes,
  PlatformService: services,
  SafeView: safeViews,
  User: users,
};
