import type { Context } from '../../../runtime/request/context.js';
import { requireValid, type Violation } from '../../../runtime/request/errors.js';
import { Biomarker, BiomarkerRange } from '../entities/biomarker.js';
import { PutBiomarkerInput } from '../inputs/biomarker.js';
import { findMarkers } from '../queries/dictionary.js';
import { type Definition, violationsOfDefinition } from '../rules/biomarker.js';
import { supersede } from './versions.js';

/** What is not given is null. */
const orNull = <Value>(one: Value | null | undefined): Value | null => one ?? null;

const definitionOf = (input: PutBiomarkerInput): Definition => ({
  loinc: input.loinc,
  otherLoincs: input.otherLoincs,
  unit: input.unit,
  decimals: input.decimals,
  molarMass: orNull(input.molarMass),
  otherUnits: input.otherUnits.map(({ unit, method, factor, offset, system, decimals }) => ({
    unit,
    method,
    factor: orNull(factor),
    offset: orNull(offset),
    system: orNull(system),
    decimals,
  })),
  noise: {
    model: input.noise.model,
    cvWithin: orNull(input.noise.cvWithin),
    cvAnalytical: orNull(input.noise.cvAnalytical),
    cvAnalyticalBetween: orNull(input.noise.cvAnalyticalBetween),
    sd: orNull(input.noise.sd),
    z: input.noise.z,
    source: input.noise.source,
    sourceYear: input.noise.sourceYear,
  },
  plausible: { low: orNull(input.plausible.low), high: orNull(input.plausible.high) },
  ranges: input.ranges.map(range => ({
    kind: range.kind,
    sex: range.sex,
    ageFrom: orNull(range.ageFrom),
    ageTo: orNull(range.ageTo),
    condition: orNull(range.condition),
    performer: orNull(range.performer),
    low: orNull(range.low),
    high: orNull(range.high),
  })),
});

/** LOINCs that another entry has. */
async function takenLoincs(ctx: Context, { code, loinc, otherLoincs }: PutBiomarkerInput): Promise<Violation[]> {
  const found = await findMarkers(ctx, [loinc, ...otherLoincs]);
  const taken = (one: string): boolean => found.has(one) && found.get(one)!.code !== code;
  return [
    ...(taken(loinc) ? [{ pointer: '/input/loinc', message: 'is of another entry' }] : []),
    ...otherLoincs.flatMap((one, index) =>
      taken(one) ? [{ pointer: `/input/otherLoincs/${index}`, message: 'is of another entry' }] : [],
    ),
  ];
}

function versionOf(ctx: Context, input: PutBiomarkerInput, definition: Definition, version: number): Biomarker {
  const { code, name, shortName, category, specimen, fasting, direction, source, status } = input;
  const { ranges: _ranges, ...defined } = definition;
  const entry = Object.assign(new Biomarker(), {
    code,
    name,
    shortName,
    category,
    specimen,
    fasting,
    direction,
    source,
    status,
    version,
    createdAt: ctx.now(),
    ...defined,
    otherLoincs: [...definition.otherLoincs],
    otherUnits: [...definition.otherUnits],
  });
  for (const [index, range] of definition.ranges.entries())
    entry.ranges.add(Object.assign(new BiomarkerRange(), range, { biomarker: entry, source: input.ranges[index]!.source }));
  return entry;
}

/** Puts the next version of a dictionary entry; results keep the version that judged them. */
export async function putBiomarker(ctx: Context, input: PutBiomarkerInput): Promise<Biomarker> {
  const definition = definitionOf(input);
  requireValid([...violationsOfDefinition(definition), ...(await takenLoincs(ctx, input))]);
  const current = await ctx.em.findOne(Biomarker, { code: input.code, supersededAt: null });
  await supersede(ctx, current, input.version, 'entry');
  const entry = versionOf(ctx, input, definition, (current?.version ?? 0) + 1);
  ctx.em.persist(entry);
  ctx.audit('biomarker.put', entry.code, { version: entry.version });
  return entry;
}
