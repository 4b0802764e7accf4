import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { mayAccess, ruleOf } from '../../runtime/access.js';
import { holdsPermission, type Caller } from '../../runtime/caller.js';
import type { Context } from '../../runtime/context.js';
import { isUuid } from '../../runtime/ids.js';
import { Brand, BrandStatus } from './entities/brand.js';
import { FeatureFlag } from './entities/flag.js';
import { PlatformService } from './entities/registry.js';

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

async function services(ctx: Context, keys: readonly { slug: string }[]): Promise<(PlatformService | null)[]> {
  const rows = await ctx.em.find(PlatformService, { slug: { $in: keys.map(({ slug }) => slug) } });
  return keys.map(({ slug }) => rows.find(row => row.slug === slug) ?? null);
}

/** A user token sees itself, unless its staff role may read the platform; what a service sees, the field's rule says. */
const users = async ({ caller }: Context, keys: readonly { id: string }[]): Promise<({ id: string } | null)[]> => {
  const seesAll = caller.kind !== 'user' || holdsPermission(caller, 'admin:platform:read');
  return keys.map(({ id }) => (seesAll || id === caller.userId ? { id } : null));
};

export const references = { Brand: brands, FeatureFlag: featureFlags, PlatformService: services, User: users };
