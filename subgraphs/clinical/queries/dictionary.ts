import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { Biomarker, BiomarkerRange } from '../entities/biomarker.js';
import { Intervention } from '../entities/intervention.js';
import { Protocol, ProtocolStatus } from '../entities/protocol.js';
import { BiomarkersArgs } from '../inputs/biomarker.js';
import { dateIn, isRunning, phaseOn } from '../rules/intervention.js';
import type { Marker } from '../rules/observation.js';
import { given } from './conditions.js';

/** Entries in force for dictionary codes or LOINCs, keyed by what was asked; two statements. */
export async function findMarkers(ctx: Context, names: readonly string[]): Promise<Map<string, Biomarker>> {
  const wanted = [...new Set(names)];
  const named = { $or: [{ code: { $in: wanted } }, { loinc: { $in: wanted } }, { otherLoincs: { $overlap: wanted } }] };
  const found = await ctx.em.find(Biomarker, { supersededAt: null, ...named }, { populate: ['ranges'] });
  const entries = found.flatMap(one => [one.code, one.loinc, ...one.otherLoincs].map(name => [name, one] as const));
  return new Map(entries.filter(([name]) => wanted.includes(name)));
}

/** `%` and `_` in what a person typed mean themselves. */
const contains = (text: string): { $ilike: string } => ({ $ilike: `%${text.replace(/[\\%_]/g, '\\$&')}%` });

const named = (q: string): FilterQuery<Biomarker> => ({
  $or: [{ code: contains(q) }, { name: contains(q) }, { shortName: contains(q) }, { loinc: q }, { otherLoincs: { $contains: [q] } }],
});

/** Entries in force of a category or with a part of a name, one page. */
export function findBiomarkers(ctx: Context, { category, q, ...paging }: BiomarkersArgs): Promise<Connection<Biomarker>> {
  const where = { supersededAt: null, ...given({ category }), ...(q && (named(q) as object)) };
  return page(ctx.em, Biomarker, where, paging, { time: 'createdAt' });
}

/** Protocols in force; drafts are nobody's yet. */
export const IN_FORCE = { supersededAt: null, status: { $ne: ProtocolStatus.DRAFT } } as const;

/** An entry as the rules need it; its ranges must be loaded. */
export const markerOf = (entry: Biomarker): Marker => ({
  code: entry.code,
  unit: entry.unit,
  decimals: entry.decimals,
  otherUnits: entry.otherUnits,
  molarMass: entry.molarMass,
  noise: entry.noise,
  plausible: entry.plausible,
  version: entry.version,
  ranges: entry.ranges.getItems(),
});

/** Canonical code of a filter argument; what no entry has stays as it is, and then finds nothing. */
export async function codeOf(ctx: Context, name: string): Promise<string> {
  return (await findMarkers(ctx, [name])).get(name)?.code ?? name;
}

/** The entry in force for a code or LOINC, in the request's batch. */
export const loadMarker = (ctx: Context, name: string): Promise<Biomarker | null> =>
  ctx.load('biomarker', name, async names => {
    const found = await findMarkers(ctx, names);
    return names.map(one => found.get(one) ?? null);
  });

/** Ranges of a dictionary version, in the request's batch. */
export async function loadRanges(ctx: Context, biomarkerId: string): Promise<BiomarkerRange[]> {
  const ranges = await ctx.load('biomarker.ranges', biomarkerId, async ids => {
    const rows = await ctx.em.find(BiomarkerRange, { biomarker: { $in: [...ids] } }, { orderBy: { kind: 'asc', sex: 'asc', id: 'asc' } });
    return ids.map(id => rows.filter(row => row.biomarker.id === id));
  });
  return ranges ?? [];
}

/** A protocol in the version that an intervention runs, in the request's batch. */
export const loadProtocolVersion = (ctx: Context, key: string, version: number): Promise<Protocol | null> =>
  ctx.load('protocol.version', `${key} ${version}`, async names => {
    const pairs = names.map(name => name.split(' ') as [string, string]);
    const rows = await ctx.em.find(Protocol, { $or: pairs.map(([one, at]) => ({ key: one, version: Number(at) })) });
    return names.map(name => rows.find(row => `${row.key} ${row.version}` === name) ?? null);
  });

/** Name of the phase of its protocol that an intervention is in today, while it runs. */
export async function phaseOf(ctx: Context, one: Intervention): Promise<string | null> {
  if (!isRunning(one.status) || one.definitionVersion === null) return null;
  const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion);
  return protocol && phaseOn(protocol.phases, one.startedOn, dateIn(one.timeZone, ctx.now()));
}
