import type { FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { type Connection, page, PageArgs } from '../../../runtime/request/paging.js';
import { Biomarker, BiomarkerConnection, BiomarkerRange, CriticalLimits } from '../entities/biomarker.js';
import { Protocol, ProtocolConnection, ProtocolStatus } from '../entities/protocol.js';
import { BiomarkersArgs } from '../inputs/biomarker.js';
import { loadMarker, loadRanges } from '../queries/dictionary.js';
import { limitsFor } from '../rules/ranges.js';

/** `%` and `_` in what a person typed mean themselves. */
const contains = (text: string): { $ilike: string } => ({ $ilike: `%${text.replace(/[\\%_]/g, '\\$&')}%` });

/** The two dictionaries, which hold no personal data. */
@Resolver(() => Biomarker)
export class DictionaryResolver {
  @Access({ service: '*', user: '*' })
  @Query(() => BiomarkerConnection, { description: 'The biomarker dictionary.' })
  biomarkers(@Args(() => BiomarkersArgs) { category, q, ...paging }: BiomarkersArgs, @Ctx() ctx: Context): Promise<Connection<Biomarker>> {
    const where: FilterQuery<Biomarker> = { supersededAt: null, ...(category && { category }) };
    if (q)
      Object.assign(where, {
        $or: [{ code: contains(q) }, { name: contains(q) }, { shortName: contains(q) }, { loinc: q }, { otherLoincs: { $contains: [q] } }],
      });
    return page(ctx.em, Biomarker, where, paging, { time: 'createdAt' });
  }

  @Access({ service: '*', user: '*' })
  @Query(() => Biomarker, { nullable: true, description: 'One entry, by code or LOINC.' })
  biomarker(@Arg('code', () => String) code: string, @Ctx() ctx: Context): Promise<Biomarker | null> {
    return loadMarker(ctx, code);
  }

  @FieldResolver(() => [BiomarkerRange])
  async ranges(@Root() biomarker: Biomarker, @Ctx() ctx: Context): Promise<BiomarkerRange[]> {
    return (await loadRanges(ctx, biomarker.id)) ?? [];
  }

  @FieldResolver(() => CriticalLimits, {
    nullable: true,
    description: 'Derived from the CRITICAL and PANIC ranges that hold for everybody; null where there are none.',
  })
  async critical(@Root() biomarker: Biomarker, @Ctx() ctx: Context): Promise<CriticalLimits | null> {
    return limitsFor((await loadRanges(ctx, biomarker.id)) ?? []);
  }

  @Access({ service: '*', user: '*' })
  @Query(() => ProtocolConnection, { description: 'The protocols in force.' })
  protocols(@Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<Protocol>> {
    return page(ctx.em, Protocol, { supersededAt: null, status: { $ne: ProtocolStatus.DRAFT } }, paging, { time: 'createdAt' });
  }

  @Access({ service: '*', user: '*' })
  @Query(() => Protocol, { nullable: true, description: 'One protocol, in the version in force.' })
  protocol(@Arg('key', () => String) key: string, @Ctx() ctx: Context): Promise<Protocol | null> {
    return ctx.em.findOne(Protocol, { key, supersededAt: null, status: { $ne: ProtocolStatus.DRAFT } });
  }
}
