import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { BrandAction } from '../entities/brand-action.js';
import { Brand, BrandDomain, BrandDomainStatus, BrandStatus, type BrandTheme } from '../entities/brand.js';
import {
  AddBrandDomainInput,
  BrandDomainInput,
  CreateBrandInput,
  SetBrandStatusInput,
  UpdateBrandInput,
  type BrandThemeInput,
} from '../inputs/brand.js';
import { dnsTxtOf } from '../ports/dns-txt.js';
import { brandHost, brandViolations, challengeOf, moveBrand, moveDomain } from '../rules/brand.js';
import { invalidateBrands, type CacheKey } from '../commands/invalidation.js';

const OPERATORS = { service: 'admin:platform', staff: 'admin:platform:brands' } as const;

/** A brand, locked for a change. @throws Problem not_found. */
async function lockBrand(ctx: Context, id: string): Promise<Brand> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return (isUuid(id) && (await ctx.em.findOne(Brand, { id: id.toLowerCase() }, options))) || fail('not_found', 'Not found');
}

/** A domain of this very brand, locked. @throws Problem not_found. */
async function lockDomain(ctx: Context, { id, brandId }: BrandDomainInput): Promise<BrandDomain> {
  const where = isUuid(id) && isUuid(brandId) && { id: id.toLowerCase(), brandId: brandId.toLowerCase() };
  return (where && (await ctx.em.findOne(BrandDomain, where, { lockMode: LockMode.PESSIMISTIC_WRITE }))) || fail('not_found', 'Not found');
}

function refuse(found: readonly Violation[]): void {
  const errors = found.map(({ pointer, message }) => ({ pointer: `/input${pointer}`, message }));
  requireValid(errors);
}

const hrefOf = (url: URL | string | null | undefined): string | null => (url == null ? null : String(url));

/** A theme with a merge patch laid over it; addresses as text. */
function themeOf(theme: BrandTheme, patch: BrandThemeInput | null | undefined): BrandTheme {
  const said = Object.entries({ ...patch }).filter(([, value]) => value !== undefined);
  const merged = {
    ...theme,
    ...Object.fromEntries(said.map(([name, value]) => [name, name.endsWith('Url') ? hrefOf(value as URL | null) : value])),
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value != null));
}

/** Fields of a patch that say something; null says nothing, because none of them may be null. */
const said = <T extends object>(patch: T): Partial<T> =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value != null)) as Partial<T>;

async function makeDefault(ctx: Context, brand: Brand): Promise<void> {
  if (brand.isDefault) return;
  if (brand.status !== BrandStatus.ACTIVE) fail('conflict', `a brand that is ${brand.status} cannot become the default`);
  await ctx.em.nativeUpdate(Brand, { isDefault: true }, { isDefault: false }); // before the other is set: only one may be
  brand.isDefault = true;
}

const checkDefault = (brand: Brand, wanted: boolean | null | undefined): void =>
  wanted === false && brand.isDefault ? refuse([{ pointer: '/isDefault', message: 'make another brand the default instead' }]) : undefined;

const keysOf = (input: object): CacheKey[] => ('theme' in input && input.theme != null ? ['brand', 'theme'] : ['brand']);

const countVerified = ({ em }: Context, brandId: string): Promise<number> =>
  em.count(BrandDomain, { brandId, status: BrandDomainStatus.VERIFIED });

async function checkAction(ctx: Context, brand: Brand, action: BrandAction): Promise<void> {
  if (action === BrandAction.SUSPEND && brand.isDefault)
    fail('conflict', 'The default brand cannot be suspended', { reason: 'default_brand' });
  if (action === BrandAction.ARCHIVE && (await countVerified(ctx, brand.id)) > 0)
    fail('conflict', 'A brand with a verified host cannot be archived', { reason: 'verified_domain' });
}

/** Whether the TXT record of a domain holds what proves it; asked before the transaction. */
async function findRecord(ctx: Context, { input: { id, brandId } }: { input: BrandDomainInput }): Promise<boolean> {
  const domain = isUuid(id) && isUuid(brandId) ? await ctx.em.findOne(BrandDomain, { id, brandId }) : null;
  if (!domain) return false;
  return (await dnsTxtOf(ctx.host)(challengeOf(domain.host))).includes(domain.verificationRecord);
}

@Resolver(() => Brand)
export class BrandAdministrationResolver {
  @Access(OPERATORS)
  @Mutation(() => Brand)
  async createBrand(
    @Arg('input', () => CreateBrandInput) { theme, supportUrl, ...input }: CreateBrandInput,
    @Ctx() ctx: Context,
  ): Promise<Brand> {
    const facts = { ...input, theme: themeOf({}, theme), supportUrl: hrefOf(supportUrl), createdAt: ctx.now() };
    const brand = Object.assign(new Brand(), facts);
    refuse(brandViolations(brand));
    if (await ctx.em.count(Brand, { slug: brand.slug })) fail('conflict', 'This slug is taken', { reason: 'slug_taken' });
    brand.isDefault = (await ctx.em.count(Brand, { isDefault: true })) === 0;
    ctx.em.persist(brand);
    ctx.audit('brand.created', brand.id, { slug: brand.slug });
    await invalidateBrands(ctx, [brand.id], ['brand', 'theme']);
    return brand;
  }

  @Access(OPERATORS)
  @Mutation(() => Brand)
  async updateBrand(@Arg('input', () => UpdateBrandInput) input: UpdateBrandInput, @Ctx() ctx: Context): Promise<Brand> {
    const { id, expectedVersion, isDefault, theme, supportUrl, ...fields } = input;
    const brand = await lockBrand(ctx, id);
    if (brand.version !== expectedVersion) fail('conflict', `The brand is at version ${brand.version}`, { reason: 'version_conflict' });
    checkDefault(brand, isDefault);
    Object.assign(brand, said(fields), { theme: themeOf(brand.theme, theme) });
    if (supportUrl !== undefined) brand.supportUrl = hrefOf(supportUrl);
    refuse(brandViolations(brand));
    if (isDefault) await makeDefault(ctx, brand);
    ctx.audit('brand.updated', brand.id, { fields: Object.keys(input).filter(name => !['id', 'expectedVersion'].includes(name)) });
    await invalidateBrands(ctx, isDefault ? null : [brand.id], keysOf(input));
    return brand;
  }

  @Access(OPERATORS)
  @Mutation(() => Brand, { description: 'Suspends, activates or archives a brand.' })
  async setBrandStatus(@Arg('input', () => SetBrandStatusInput) { id, action }: SetBrandStatusInput, @Ctx() ctx: Context): Promise<Brand> {
    const brand = await lockBrand(ctx, id);
    const next = moveBrand(brand.status, action);
    await checkAction(ctx, brand, action);
    brand.status = next;
    ctx.audit('brand.status_changed', brand.id, { status: next });
    await invalidateBrands(ctx, [brand.id], ['brand']);
    return brand;
  }

  @Access(OPERATORS)
  @Mutation(() => BrandDomain, { description: 'Adds a host, which counts once its TXT record has been seen.' })
  async addBrandDomain(@Arg('input', () => AddBrandDomainInput) input: AddBrandDomainInput, @Ctx() ctx: Context): Promise<BrandDomain> {
    const brand = await lockBrand(ctx, input.brandId);
    if (brand.status === BrandStatus.ARCHIVED) fail('conflict', 'an archived brand takes no hosts');
    const judged = brandHost(input.host);
    if ('refusal' in judged) return refuse([{ pointer: '/host', message: judged.refusal }]) as never;
    if (await ctx.em.count(BrandDomain, { host: judged.host })) fail('conflict', 'This host is taken', { reason: 'host_taken' });
    const facts = { brandId: brand.id, host: judged.host, purpose: input.purpose };
    const domain = Object.assign(new BrandDomain(), facts, {
      verificationRecord: `platform-verification=${randomBytes(16).toString('hex')}`,
    });
    ctx.em.persist(domain);
    ctx.audit('brand_domain.added', domain.id, { brand_id: brand.id, host: domain.host });
    await invalidateBrands(ctx, [brand.id], ['domains']);
    return domain;
  }

  @Access(OPERATORS)
  @Prepare(findRecord)
  @Mutation(() => BrandDomain, { description: 'Looks for the TXT record of a host.' })
  async verifyBrandDomain(@Arg('input', () => BrandDomainInput) input: BrandDomainInput, @Ctx() ctx: Context): Promise<BrandDomain> {
    const domain = await lockDomain(ctx, input);
    domain.status = moveDomain(domain.status, ctx.facts === true);
    domain.verifiedAt = domain.status === BrandDomainStatus.VERIFIED ? ctx.now() : null;
    ctx.audit('brand_domain.verified', domain.id, { brand_id: domain.brandId, status: domain.status });
    await invalidateBrands(ctx, [domain.brandId], ['domains']);
    return domain;
  }

  @Access(OPERATORS)
  @Mutation(() => BrandDomain, { description: 'Removes a host: from now on it resolves to no brand.' })
  async removeBrandDomain(@Arg('input', () => BrandDomainInput) input: BrandDomainInput, @Ctx() ctx: Context): Promise<BrandDomain> {
    const domain = await lockDomain(ctx, input);
    ctx.em.remove(domain);
    ctx.audit('brand_domain.removed', domain.id, { brand_id: domain.brandId, host: domain.host });
    await invalidateBrands(ctx, [domain.brandId], ['domains']);
    return domain;
  }
}
