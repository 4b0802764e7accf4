import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { importPaper, preparedCitation } from '../commands/citation.js';
import { typesOf } from '../entities/types.js';
import { draftOf } from '../queries/editors.js';
import type { Item } from '../queries/present.js';
import { viewFor } from '../queries/view.js';

const PAPER = typesOf('RESEARCH_PAPERS').item;

@Resolver()
export class CitationResolver {
  @Access({ service: 'admin:content', staff: 'admin:content:write' })
  @Prepare(preparedCitation)
  @Mutation(() => PAPER, {
    description: 'A draft of what Crossref knows of a DOI, or PubMed of a PMID; the paper itself where it is here.',
  })
  async importResearchPaper(
    @Rule({ maxLength: 250 }) @Arg('doi', () => String, { nullable: true }) _doi: string | null,
    @Rule({ maxLength: 32 }) @Arg('pmid', () => String, { nullable: true }) _pmid: string | null,
    @Ctx() ctx: Context,
  ): Promise<Item> {
    const state = await importPaper(ctx);
    return draftOf(state, viewFor(ctx, preparedCitation.of(ctx).brands, { locale: state.base_locale }));
  }
}
