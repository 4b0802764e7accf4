import { newId } from '../../../runtime/data/ids.js';
import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { AffiliateProgram, CommissionTier } from '../entities/program.js';
import type { CommissionTierInput, CreateAffiliateProgramInput, UpdateAffiliateProgramInput } from '../inputs/program.js';
import { hostsByBrand } from '../ports/brands.js';
import { tierViolations } from '../rules/affiliates.js';

/** Hosts of all brands, asked of platform before a transaction. */
export const brandHosts = preparation((ctx, _args: object) => hostsByBrand(ctx));

function addTiers(ctx: Context, programId: string, tiers: readonly CommissionTierInput[]): void {
  const rows = tiers.map(({ key, rank, kind, rateBps, flat, threshold }) =>
    Object.assign(new CommissionTier(), {
      id: newId(),
      programId,
      key,
      rank,
      kind,
      rateBps: rateBps ?? null,
      flatUnits: flat?.amount ?? null,
      thresholdUnits: threshold.amount,
    }),
  );
  ctx.em.persist(rows);
}

/** What was given of some terms, as the row names it. */
function termsOf({
  minimumPayout,
  base,
  ...rest
}: Omit<UpdateAffiliateProgramInput, 'id' | 'tiers' | 'version'>): Partial<AffiliateProgram> {
  const { includeTax, includeShipping, includeCash, subjectKinds, renewalMonths } = base ?? {};
  const given = { ...rest, leastPayout: minimumPayout?.amount, includeTax, includeShipping, includeCash, subjectKinds, renewalMonths };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as Partial<AffiliateProgram>;
}

/** @throws Problem invalid_request for an unknown brand, or tiers that do not fit; conflict where the key is taken. */
export async function createProgram(
  ctx: Context,
  { tiers, brandId: brand, key, minimumPayout, ...terms }: CreateAffiliateProgramInput,
): Promise<AffiliateProgram> {
  const brandId = brand.toLowerCase();
  if (!brandHosts.of(ctx).has(brandId)) invalid('/input/brandId', 'is no brand');
  requireValid(tierViolations(tiers, minimumPayout.currency));
  const rows = { key, brandId, currency: minimumPayout.currency, createdAt: ctx.now() };
  const program = Object.assign(new AffiliateProgram(), rows, termsOf({ ...terms, minimumPayout }));
  ctx.em.persist(program);
  addTiers(ctx, program.id, tiers);
  ctx.audit('affiliate_program.created', program.id, { key });
  return program;
}

/** Changes what is earned from now on. @throws Problem conflict where it was changed meanwhile. */
export async function updateProgram(
  ctx: Context,
  { id, version, tiers, ...terms }: UpdateAffiliateProgramInput,
): Promise<AffiliateProgram> {
  const program = await lockRow(ctx, AffiliateProgram, { id });
  requireVersion(program, version);
  const { minimumPayout } = terms;
  if (minimumPayout && minimumPayout.currency !== program.currency) invalid('/input/minimumPayout/currency', 'is the program’s for ever');
  if (tiers) {
    requireValid(tierViolations(tiers, program.currency));
    await ctx.em.nativeDelete(CommissionTier, { programId: program.id });
    addTiers(ctx, program.id, tiers);
  }
  Object.assign(program, termsOf(terms), { version: program.version + 1 });
  ctx.audit('affiliate_program.updated', program.id, { fields: Object.keys(termsOf(terms)), tiers: tiers != null });
  return program;
}
