import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { type Connection, page, PageArgs } from '../../../runtime/request/paging.js';
import { Biomarker, BiomarkerConnection, BiomarkerRange, CriticalLimits } from '../entities/biomarker.js';
import { Protocol, ProtocolConnection } from '../entities/protocol.js';
import { BiomarkersArgs } from '../inputs/biomarker.js';
import { findBiomarkers, IN_FORCE, loadMarker, loadRanges } from '../queries/dictionary.js';
import { limitsFor } from '../rules/ranges.js';

/** The two dictionaries, which hold no personal data. */
@Resolver(() => Biomarker)
export class DictionaryResolver {
  @Access({ service: '*', user: '*' })
  @Query(() => BiomarkerConnection, { description: 'The biomarker dictionary.' })
  biomarkers(@Args(() => BiomarkersArgs) args: BiomarkersArgs, @Ctx() ctx: Context): Promise<Connection<Biomarker>> {
    return findBiomarkers(ctx, args);
  }

  @Access({ service: '*', user: '*' })
  @Query(() => Biomarker, { nullable: true, description: 'One entry, by code or LOINC.' })
  biomarker(@Arg('code', () => String) code: string, @Ctx() ctx: Context): Promise<Biomarker | null> {
    return loadMarker(ctx, code);
  }

  @FieldResolver(() => [BiomarkerRange])
  ranges(@Root() biomarker: Biomarker, @Ctx() ctx: Context): Promise<BiomarkerRange[]> {
    return loadRanges(ctx, biomarker.id);
  }

  @FieldResolver(() => CriticalLimits, {
    nullable: true,
    description: 'Derived from the CRITICAL and PANIC ranges that hold for everybody; null where there are none.',
  })
  async critical(@Root() biomarker: Biomarker, @Ctx() ctx: Context): Promise<CriticalLimits | null> {
    return limitsFor(await loadRanges(ctx, biomarker.id));
  }

  @Access({ service: '*', user: '*' })
  @Query(() => ProtocolConnection, { description: 'The protocols in force.' })
  protocols(@Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<Protocol>> {
    return page(ctx.em, Protocol, IN_FORCE, paging, { time: 'createdAt' });
  }

  @Access({ service: '*', user: '*' })
  @Query(() => Protocol, { nullable: true, description: 'One protocol, in the version in force.' })
  protocol(@Arg('key', () => String) key: string, @Ctx() ctx: Context): Promise<Protocol | null> {
    return ctx.em.findOne(Protocol, { key, ...IN_FORCE });
  }
}
