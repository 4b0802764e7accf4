import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { ANYBODY, ATTRIBUTORS, READERS, SEEN, WIN_BACK_SEEN } from './entities/access.js';
import { Affiliate } from './entities/affiliate.js';
import { AffiliateAttribution } from './entities/attribution.js';
import { Commission } from './entities/commission.js';
import { AffiliateProgram } from './entities/program.js';
import { WinBackClaim } from './entities/win-back.js';
import { ownIds } from './queries/lists.js';

const seesAll = ({ caller }: Context): boolean => mayAccess(ruleOf(READERS), caller);

/** Rows of an affiliate: a member sees those of the own ones. */
const ofOwn =
  (load: ReferenceLoader): ReferenceLoader =>
  async (ctx, references) => {
    const rows = await load(ctx, references);
    if (seesAll(ctx)) return rows;
    const own = ctx.caller.userId === null ? [] : await ownIds(ctx);
    return rows.map(row => (row && own.includes((row as { affiliateId: string }).affiliateId) ? row : null));
  };

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  AffiliateProgram: rowReferences(AffiliateProgram, { readers: ANYBODY }),
  Affiliate: rowReferences(Affiliate, { readers: SEEN, where: ctx => (seesAll(ctx) ? {} : { userId: ctx.caller.userId! }) }),
  AffiliateAttribution: rowReferences(AffiliateAttribution, { readers: ATTRIBUTORS }),
  Commission: ofOwn(rowReferences(Commission, { readers: SEEN })),
  WinBackClaim: ofOwn(rowReferences(WinBackClaim, { readers: WIN_BACK_SEEN })),
  User: stubReferences,
  Order: stubReferences,
};
