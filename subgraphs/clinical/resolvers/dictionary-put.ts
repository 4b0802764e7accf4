import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, type Violation } from '../../../runtime/request/errors.js';
import { Biomarker, BiomarkerRange } from '../entities/biomarker.js';
import { CheckInTemplate } from '../entities/check-in.js';
import { Protocol, type ProtocolPhase } from '../entities/protocol.js';
import { PutBiomarkerInput } from '../inputs/biomarker.js';
import { PutProtocolInput } from '../inputs/protocol.js';
import { violationsOfDefinition, type Definition } from '../rules/biomarker.js';
import { violationsOfPlan } from '../rules/protocol.js';
import { findMarkers } from '../queries/dictionary.js';

const refuse = (errors: Violation[]): void => void (errors.length && fail('invalid_request', 'The input is invalid', { errors }));

const edge = (one: number | null | undefined): number | null => one ?? null;

const definitionOf = (input: PutBiomarkerInput): Definition => ({
  loinc: input.loinc,
  otherLoincs: input.otherLoincs,
  unit: input.unit,
  decimals: input.decimals,
  molarMass: edge(input.molarMass),
  otherUnits: input.otherUnits.map(({ unit, method, factor, offset, system, decimals }) => ({
    unit,
    method,
    factor: edge(factor),
    offset: edge(offset),
    system: system ?? null,
    decimals,
  })),
  noise: {
    model: input.noise.model,
    cvWithin: edge(input.noise.cvWithin),
    cvAnalytical: edge(input.noise.cvAnalytical),
    cvAnalyticalBetween: edge(input.noise.cvAnalyticalBetween),
    sd: edge(input.noise.sd),
    z: input.noise.z,
    source: input.noise.source,
    sourceYear: input.noise.sourceYear,
  },
  plausible: { low: edge(input.plausible.low), high: edge(input.plausible.high) },
  ranges: input.ranges.map(range => ({
    kind: range.kind,
    sex: range.sex,
    ageFrom: edge(range.ageFrom),
    ageTo: edge(range.ageTo),
    condition: range.condition ?? null,
    performer: range.performer ?? null,
    low: edge(range.low),
    high: edge(range.high),
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

/** The version in force must be the one that the author has read. @throws Problem conflict. */
function requireVersion(current: { version: number } | null, read: number | null | undefined, what: string): void {
  if ((current?.version ?? null) === (read ?? null)) return;
  fail('conflict', current ? `the ${what} is in version ${current.version}` : `there is no such ${what}`, { reason: 'version_conflict' });
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

/** Templates and markers that a plan names and nobody knows. */
async function unknownNames(ctx: Context, { phases, markers }: PutProtocolInput): Promise<Violation[]> {
  const known = await findMarkers(
    ctx,
    markers.map(one => one.code),
  );
  const templates = await ctx.em.find(CheckInTemplate, { supersededAt: null });
  const keys = new Set(templates.map(one => one.key));
  return [
    ...markers.flatMap(({ code }, at) =>
      known.get(code)?.code === code ? [] : [{ pointer: `/input/markers/${at}/code`, message: 'is not in the dictionary' }],
    ),
    ...phases.flatMap((phase, at) =>
      phase.checkIns.flatMap(({ templateKey }, index) =>
        keys.has(templateKey) ? [] : [{ pointer: `/input/phases/${at}/checkIns/${index}/templateKey`, message: 'is not a template' }],
      ),
    ),
  ];
}

const phaseOf = ({ name, startDay, endDay, doses, checkIns }: PutProtocolInput['phases'][number]): ProtocolPhase => ({
  name,
  startDay,
  endDay,
  doses: doses.map(({ productCode, quantity, route, timing, timesOfDay }) => ({
    productCode,
    quantity: { ...quantity },
    route,
    timing: timing ?? {},
    timesOfDay,
  })),
  checkIns: checkIns.map(({ templateKey, everyDays }) => ({ templateKey, everyDays })),
});

@Resolver()
export class DictionaryPutResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:dictionary' })
  @Mutation(() => Biomarker, { description: 'Puts the next version of a dictionary entry; results keep the version that judged them.' })
  async putBiomarker(@Arg('input', () => PutBiomarkerInput) input: PutBiomarkerInput, @Ctx() ctx: Context): Promise<Biomarker> {
    const definition = definitionOf(input);
    refuse([...violationsOfDefinition(definition), ...(await takenLoincs(ctx, input))]);
    const current = await ctx.em.findOne(Biomarker, { code: input.code, supersededAt: null });
    requireVersion(current, input.version, 'entry');
    if (current) current.supersededAt = ctx.now();
    await ctx.em.flush(); // the version in force is unique
    const entry = versionOf(ctx, input, definition, (current?.version ?? 0) + 1);
    ctx.em.persist(entry);
    ctx.audit('biomarker.put', entry.code, { version: entry.version });
    return entry;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:dictionary' })
  @Mutation(() => Protocol, { description: 'Puts the next version of a protocol; what runs keeps its version.' })
  async putProtocol(@Arg('input', () => PutProtocolInput) input: PutProtocolInput, @Ctx() ctx: Context): Promise<Protocol> {
    refuse([...violationsOfPlan(input), ...(await unknownNames(ctx, input))]);
    const current = await ctx.em.findOne(Protocol, { key: input.key, supersededAt: null });
    requireVersion(current, input.version, 'protocol');
    if (current) current.supersededAt = ctx.now();
    await ctx.em.flush(); // the version in force is unique
    const { key, title, status, durationDays, requiresConsult, contraindications } = input;
    const protocol = Object.assign(new Protocol(), {
      key,
      title,
      status,
      durationDays,
      requiresConsult,
      contraindications,
      version: (current?.version ?? 0) + 1,
      phases: input.phases.map(phaseOf),
      markers: input.markers.map(({ code, windowDays, target }) => ({
        code,
        windowDays: windowDays ?? null,
        target: target ? { low: edge(target.low), high: edge(target.high) } : null,
      })),
      createdAt: ctx.now(),
    });
    ctx.em.persist(protocol);
    ctx.audit('protocol.put', protocol.key, { version: protocol.version });
    return protocol;
  }
}
