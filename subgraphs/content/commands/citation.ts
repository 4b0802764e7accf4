/** Research papers by what registers know of them. Source: content 4.2. */
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { definitionOf } from '../entities/collections.js';
import { brandsOf, type BrandFacts } from '../ports/brands.js';
import { citationsOf } from '../ports/citations.js';
import { requireItem, type ItemState } from '../queries/editors.js';
import { doiIn, pmidIn, type Citation } from '../rules/citation.js';
import { addItem } from './item.js';

type Names = Pick<Citation, 'doi' | 'pmid'>;

/** @throws Problem invalid_request unless it is one of the two. */
function namesOf(doi: string | null | undefined, pmid: string | null | undefined): Names {
  if ((doi == null) === (pmid == null)) requireValid([{ pointer: '/doi', message: 'give either a DOI or a PMID' }]);
  const names = { doi: doi == null ? null : doiIn(doi), pmid: pmid == null ? null : pmidIn(pmid) };
  if (names.doi === null && names.pmid === null) requireValid([{ pointer: doi == null ? '/pmid' : '/doi', message: 'is none' }]);
  return names;
}

const KNOWN = `select item_id from content.content_key where collection = 'RESEARCH_PAPERS' and is_unique and brand_id is null
  and ((name = 'doi_exists' and value = $1) or (name = 'pmid_exists' and value = $2)) order by item_id limit 1`;

async function knownPaper(ctx: Context, { doi, pmid }: Names): Promise<string | null> {
  const [row] = await ctx.sql<{ item_id: string }>(KNOWN, [doi, pmid]);
  return row?.item_id ?? null;
}

interface Found {
  brands: readonly BrandFacts[];
  names: Names;
  /** Null: the paper is here already. */
  citation: Citation | null;
}

async function citationFor(ctx: Context, { doi, pmid }: Names): Promise<Citation> {
  const registers = citationsOf(ctx.host);
  return (await (doi === null ? registers.byPmid(pmid!) : registers.byDoi(doi))) ?? fail('not_found', 'No register knows this paper');
}

/** Asked of the registers before the transaction. @throws Problem invalid_request, not_found, unavailable. */
export const preparedCitation = preparation(
  async (ctx: Context, { doi, pmid }: { doi?: string | null; pmid?: string | null }): Promise<Found> => {
    const names = namesOf(doi, pmid);
    const brands = await brandsOf(ctx);
    return { brands, names, citation: (await knownPaper(ctx, names)) === null ? await citationFor(ctx, names) : null };
  },
);

const LOCK = "select pg_advisory_xact_lock(hashtextextended('content.import:' || $1, 0))";

/** A draft of the paper; the paper itself where it is here, also where somebody else has just imported it. */
export async function importPaper(ctx: Context): Promise<ItemState> {
  const { brands, names, citation } = preparedCitation.of(ctx);
  const all = { doi: citation?.doi ?? names.doi, pmid: citation?.pmid ?? names.pmid };
  await ctx.sql(LOCK, [all.doi ?? all.pmid]);
  const known = await knownPaper(ctx, all);
  if (known !== null) return requireItem(ctx, known);
  const { title, ...found } = citation ?? fail('conflict', 'It was removed meanwhile');
  const input = { title, ...Object.fromEntries(Object.entries({ ...found, ...all }).filter(([, value]) => value !== null)) };
  const locale = brands.find(one => one.isDefault)?.defaultLocale ?? 'en';
  const { state } = await addItem(ctx, definitionOf('RESEARCH_PAPERS'), { brandId: null, locale, input });
  ctx.audit('research_paper.imported', state.id);
  return state;
}
