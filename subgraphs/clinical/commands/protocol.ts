import type { Context } from '../../../runtime/request/context.js';
import { requireValid, type Violation } from '../../../runtime/request/errors.js';
import { CheckInTemplate } from '../entities/check-in.js';
import { Protocol, ProtocolMarker, ProtocolPhase } from '../entities/protocol.js';
import { PutProtocolInput } from '../inputs/protocol.js';
import { findMarkers } from '../queries/dictionary.js';
import { violationsOfPlan } from '../rules/protocol.js';
import { supersede } from './versions.js';

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

const markerOf = ({ code, windowDays, target }: PutProtocolInput['markers'][number]): ProtocolMarker => ({
  code,
  windowDays: windowDays ?? null,
  target: target ? { low: target.low ?? null, high: target.high ?? null } : null,
});

/** Puts the next version of a protocol; what runs keeps its version. */
export async function putProtocol(ctx: Context, input: PutProtocolInput): Promise<Protocol> {
  requireValid([...violationsOfPlan(input), ...(await unknownNames(ctx, input))]);
  const current = await ctx.em.findOne(Protocol, { key: input.key, supersededAt: null });
  await supersede(ctx, current, input.version, 'protocol');
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
    markers: input.markers.map(markerOf),
    createdAt: ctx.now(),
  });
  ctx.em.persist(protocol);
  ctx.audit('protocol.put', protocol.key, { version: protocol.version });
  return protocol;
}
