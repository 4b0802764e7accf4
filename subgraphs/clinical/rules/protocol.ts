import type { Violation } from '../../../runtime/request/errors.js';
import { edgeViolations } from './biomarker.js';

interface Plan {
  durationDays: number;
  phases: readonly { startDay: number; endDay: number; doses: readonly { quantity: { value: number }; timing?: unknown }[] }[];
  markers: readonly { code: string; target?: { low?: number | null; high?: number | null } | null }[];
}

/** Everything that is wrong with a plan beyond its types: phases in order, without overlap and inside its duration; each marker once. */
export function violationsOfPlan({ durationDays, phases, markers }: Plan): Violation[] {
  const found: Violation[] = [];
  for (const [index, phase] of phases.entries()) {
    const at = `/input/phases/${index}`;
    if (phase.endDay <= phase.startDay) found.push({ pointer: `${at}/endDay`, message: 'must be more than startDay' });
    if (phase.endDay > durationDays) found.push({ pointer: `${at}/endDay`, message: 'lies after the end of the protocol' });
    if (index > 0 && phase.startDay < phases[index - 1]!.endDay)
      found.push({ pointer: `${at}/startDay`, message: 'lies in the phase before' });
    for (const [dose, { quantity, timing }] of phase.doses.entries()) {
      if (!(quantity.value > 0)) found.push({ pointer: `${at}/doses/${dose}/quantity/value`, message: 'must be more than 0' });
      if (timing != null && (typeof timing !== 'object' || Array.isArray(timing)))
        found.push({ pointer: `${at}/doses/${dose}/timing`, message: 'must be an object' });
    }
  }
  for (const [index, { code, target }] of markers.entries()) {
    if (markers.findIndex(one => one.code === code) !== index)
      found.push({ pointer: `/input/markers/${index}/code`, message: 'is named twice' });
    if (target)
      found.push(...edgeViolations({ low: target.low ?? null, high: target.high ?? null }, false, `/input/markers/${index}/target`));
  }
  return found;
}
