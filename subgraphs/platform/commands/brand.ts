import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { Brand, BrandAction, BrandDomain, BrandDomainStatus, BrandStatus, type BrandTheme } from '../entities/brand.js';
import type { BrandThemeInput, CreateBrandInput, SetBrandStatusInput, UpdateBrandInput } from '../inputs/brand.js';
import { brandViolations, moveBrand } from '../rules/brand.js';
import { below } from '../rules/violations.js';
import { invalidateBrands, type CacheKey } from './invalidation.js';

/** A brand, locked for a change. @throws Problem not_found. */
export const lockBrand = (ctx: Context, id: string): Promise<Brand> => lockRow(ctx, Brand, { id: id.toLowerCase() });

const hrefOf = (url: URL | string | null | undefined): string | null => (url == null ? null : String(url));

/** A theme with a merge patch laid over it; addresses as text. */
function themeOf(theme: BrandTheme, patch: BrandThemeInput | null | undefined): BrandTheme {
  const given = Object.entries({ ...patch }).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]) => [name, name.endsWith('Url') ? hrefOf(value as URL | null) : value]);
  return Object.fromEntries(Object.entries({ ...theme, ...Object.fromEntries(texts) }).filter(([, value]) => value != null));
}

/** Fields that a patch gives; null gives nothing, because none of them may be null. */
const givenBy = <T extends object>(patch: T): Partial<T> =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value != null)) as Partial<T>;

/** @throws Problem invalid_request, conflict for a slug that is taken. The first brand is the default. */
export async function createBrand(ctx: Context, { theme, supportUrl, ...input }: CreateBrandInput): Promise<Brand> {
  const facts = { ...input, theme: themeOf({}, theme), supportUrl: hrefOf(supportUrl), createdAt: ctx.now() };
  const brand = Object.assign(new Brand(), facts);
  requireValid(below('/input', brandViolations(brand)));
  if (await ctx.em.count(Brand, { slug: brand.slug })) fail('conflict', 'This slug is taken', { reason: 'slug_taken' });
  brand.isDefault = (await ctx.em.count(Brand, { isDefault: true })) === 0;
  ctx.em.persist(brand);
  ctx.audit('brand.created', brand.id, { slug: brand.slug });
  await invalidateBrands(ctx, [brand.id], ['brand', 'theme']);
  return brand;
}

async function makeDefault(ctx: Context, brand: Brand): Promise<void> {
  if (brand.isDefault) return;
  if (brand.status !== BrandStatus.ACTIVE) fail('conflict', `a brand that is ${brand.status} cannot become the default`);
  await ctx.em.nativeUpdate(Brand, { isDefault: true }, { isDefault: false }); // before the other is set: only one may be
  brand.isDefault = true;
}

/** What a brand says, as text to compare. */
const factsOf = ({ id: _id, version: _version, ...facts }: Brand): string => JSON.stringify(facts);

const cachesOf = ({ theme }: UpdateBrandInput): CacheKey[] => (theme != null ? ['brand', 'theme'] : ['brand']);

/** @throws Problem not_found, conflict for a version that is not the current one, invalid_request. */
export async function updateBrand(ctx: Context, input: UpdateBrandInput): Promise<Brand> {
  const { id, expectedVersion, isDefault, theme, supportUrl, ...fields } = input;
  const brand = await lockBrand(ctx, id);
  if (brand.version !== expectedVersion) fail('conflict', `The brand is at version ${brand.version}`, { reason: 'version_conflict' });
  if (isDefault === false && brand.isDefault) invalid('/input/isDefault', 'make another brand the default instead');
  const before = factsOf(brand);
  Object.assign(brand, givenBy(fields), { theme: themeOf(brand.theme, theme) });
  if (supportUrl !== undefined) brand.supportUrl = hrefOf(supportUrl);
  requireValid(below('/input', brandViolations(brand)));
  if (isDefault) await makeDefault(ctx, brand);
  if (factsOf(brand) === before) return brand; // a patch of what is so already
  ctx.audit('brand.updated', brand.id, { fields: Object.keys(input).filter(name => !['id', 'expectedVersion'].includes(name)) });
  await invalidateBrands(ctx, isDefault ? null : [brand.id], cachesOf(input));
  return brand;
}

const countVerified = ({ em }: Context, brandId: string): Promise<number> =>
  em.count(BrandDomain, { brandId, status: BrandDomainStatus.VERIFIED });

async function requireAllowed(ctx: Context, brand: Brand, action: BrandAction): Promise<void> {
  if (action === BrandAction.SUSPEND && brand.isDefault)
    fail('conflict', 'The default brand cannot be suspended', { reason: 'default_brand' });
  if (action === BrandAction.ARCHIVE && (await countVerified(ctx, brand.id)) > 0)
    fail('conflict', 'A brand with a verified host cannot be archived', { reason: 'verified_domain' });
}

/** @throws Problem not_found, conflict for what the state, the default or a verified host forbids. */
export async function setBrandStatus(ctx: Context, { id, action }: SetBrandStatusInput): Promise<Brand> {
  const brand = await lockBrand(ctx, id);
  const next = moveBrand(brand.status, action);
  await requireAllowed(ctx, brand, action);
  brand.status = next;
  ctx.audit('brand.status_changed', brand.id, { status: next });
  await invalidateBrands(ctx, [brand.id], ['brand']);
  return brand;
}
