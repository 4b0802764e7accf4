import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { Biomarker, BiomarkerRange } from '../entities/biomarker.js';
import { CheckInTemplate } from '../entities/check-in.js';
import { Protocol, ProtocolMarker, ProtocolPhase } from '../entities/protocol.js';
import { PutBiomarkerInput } from '../inputs/biomarker.js';
import { PutProtocolInput } from '../inputs/protocol.js';
import { findMarkers } from '../queries/dictionary.js';
import { type Definition, violationsOfDefinition } from '../rules/biomarker.js';
import { violationsOfPlan } from '../rules/protocol.js';

interface Versioned {
  version: number;
  supersededAt: Date | null;
}

/**
 * Makes room for the next version of a definition: the one in force is unique. It must be the one that the author has read.
 * @throws Problem conflict, reason `version_conflict`.
 */
async function supersede(ctx: Context, current: Versioned | null, read: number | null | undefined, thing: string): Promise<void> {
  if ((current?.version ?? null) !== (read ?? null))
    fail('conflict', current ? `the ${thing} is in version ${current.version}` : `there is no such ${thing}`, {
      reason: 'version_conflict',
    });
  if (current) current.supersededAt = ctx.now();
  await ctx.em.flush();
}

/** The named members as a plain object; what was not given is null. */
const pick = <From extends object, Name extends keyof From & string>(from: From, ...names: Name[]) =>
  Object.fromEntries(names.map(name => [name, from[name] ?? null])) as { [N in Name]: Exclude<From[N], undefined> };

const definitionOf = (input: PutBiomarkerInput): Definition => ({
  ...pick(input, 'loinc', 'otherLoincs', 'unit', 'decimals', 'molarMass'),
  otherUnits: input.otherUnits.map(one => pick(one, 'unit', 'method', 'factor', 'offset', 'system', 'decimals')),
  noise: pick(input.noise, 'model', 'cvWithin', 'cvAnalytical', 'cvAnalyticalBetween', 'sd', 'z', 'source', 'sourceYear'),
  plausible: pick(input.plausible, 'low', 'high'),
  ranges: input.ranges.map(one => pick(one, 'kind', 'sex', 'ageFrom', 'ageTo', 'condition', 'performer', 'low', 'high')),
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

function versionOf(ctx: Context, input: PutBiomarkerInput, { ranges, ...defined }: Definition, version: number): Biomarker {
  const named = pick(input, 'code', 'name', 'shortName', 'category', 'specimen', 'fasting', 'direction', 'source', 'status');
  const { otherLoincs, otherUnits } = defined;
  const lists = { otherLoincs: [...otherLoincs], otherUnits: [...otherUnits] };
  const entry = Object.assign(new Biomarker(), { ...named, ...defined, ...lists, version, createdAt: ctx.now() });
  for (const [index, range] of ranges.entries())
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

/** Templates and markers that a plan names and nobody knows. */
async function unknownNames(ctx: Context, { phases, markers }: PutProtocolInput): Promise<Violation[]> {
  const codes = markers.map(one => one.code);
  const known = await findMarkers(ctx, codes);
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
  doses: doses.map(({ quantity, timing, ...dose }) => ({
    ...pick(dose, 'productCode', 'route', 'timesOfDay'),
    quantity: { ...quantity },
    timing: timing ?? {},
  })),
  checkIns: checkIns.map(one => pick(one, 'templateKey', 'everyDays')),
});

const protocolMarker = ({ target, ...marker }: PutProtocolInput['markers'][number]): ProtocolMarker => ({
  ...pick(marker, 'code', 'windowDays'),
  target: target ? pick(target, 'low', 'high') : null,
});

/** Puts the next version of a protocol; what runs keeps its version. */
export async function putProtocol(ctx: Context, input: PutProtocolInput): Promise<Protocol> {
  requireValid([...violationsOfPlan(input), ...(await unknownNames(ctx, input))]);
  const current = await ctx.em.findOne(Protocol, { key: input.key, supersededAt: null });
  await supersede(ctx, current, input.version, 'protocol');
  const protocol = Object.assign(new Protocol(), {
    ...pick(input, 'key', 'title', 'status', 'durationDays', 'requiresConsult', 'contraindications'),
    version: (current?.version ?? 0) + 1,
    phases: input.phases.map(phaseOf),
    markers: input.markers.map(protocolMarker),
    createdAt: ctx.now(),
  });
  ctx.em.persist(protocol);
  ctx.audit('protocol.put', protocol.key, { version: protocol.version });
  return protocol;
}
