import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import type { ProtocolDose, ProtocolPhase } from '../entities/protocol.js';
import { dateIn, dayNumber, plusDays } from './intervention.js';

/** Offset of a time zone at an instant, ms east of UTC. */
function offsetAt(timeZone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: string): number => Number(parts.find(one => one.type === type)!.value);
  return (
    Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) -
    Math.floor(at / SECOND_MS) * SECOND_MS
  );
}

/**
 * The instant of a wall-clock time. A time that the clocks skip is the end of the skipped hour; of a doubled one the first.
 * Source: clinical 7.3.6.
 */
export function instantOf(day: string, time: string, timeZone: string): Date {
  const wall = Date.parse(`${day}T${time}:00.000Z`);
  const offsets = [offsetAt(timeZone, wall - DAY_MS), offsetAt(timeZone, wall + DAY_MS)];
  const fitting = [...new Set(offsets)].map(offset => wall - offset).filter(at => at + offsetAt(timeZone, at) === wall);
  if (fitting.length) return new Date(Math.min(...fitting));
  return new Date(wall - Math.max(...offsets) + endOfGap(timeZone, wall - Math.max(...offsets), offsets));
}

/** How far the change of the clocks lies after an instant that is before it: found by halving, to the minute. */
function endOfGap(timeZone: string, from: number, offsets: readonly number[]): number {
  const before = Math.min(...offsets);
  let [low, high] = [from - DAY_MS, from + DAY_MS];
  while (high - low > MINUTE_MS) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(timeZone, middle) === before) low = middle;
    else high = middle;
  }
  return Math.round(high / MINUTE_MS) * MINUTE_MS - from;
}

/** Planned end of a protocol: its first day without it. */
export function endOfPlan(
  startedOn: string,
  timeZone: string,
  protocol: { durationDays: number } | null,
): { plannedEndOn: string | null; endsAt: Date | null } {
  if (!protocol) return { plannedEndOn: null, endsAt: null };
  const plannedEndOn = plusDays(startedOn, protocol.durationDays);
  return { plannedEndOn, endsAt: instantOf(plannedEndOn, '00:00', timeZone) };
}

/** Days between two doses, from FHIR Timing: `repeat.period` in days or weeks; else every day. */
export function everyDays(timing: unknown): number {
  const { period = 1, periodUnit = 'd' } = (timing as { repeat?: { period?: number; periodUnit?: string } } | null)?.repeat ?? {};
  const days = periodUnit === 'wk' ? period * 7 : periodUnit === 'd' ? period : 1;
  return Number.isInteger(days) && days >= 1 ? days : 1;
}

export interface PlannedDose {
  dose: ProtocolDose;
  at: Date;
}

export interface PlannedCheckIn {
  templateKey: string;
  /** Counted over the whole intervention, from 1. */
  sequence: number;
  at: Date;
}

interface Running {
  startedOn: string;
  timeZone: string;
  phases: readonly ProtocolPhase[];
}

/** Next time of each dose after an instant; a dose of a phase that is over has none. */
export function nextDoses({ startedOn, timeZone, phases }: Running, from: Date): PlannedDose[] {
  const today = dateIn(timeZone, from);
  const byProduct = new Map<string, PlannedDose>();
  for (const { startDay, endDay, doses } of phases)
    for (const dose of doses) {
      const at = nextOf(dose, { startedOn, timeZone, startDay, endDay }, today, from);
      const known = byProduct.get(dose.productCode);
      if (at && (!known || at < known.at)) byProduct.set(dose.productCode, { dose, at });
    }
  return [...byProduct.values()];
}

interface Span {
  startedOn: string;
  timeZone: string;
  startDay: number;
  endDay: number;
}

function nextOf(dose: ProtocolDose, span: Span, today: string, from: Date): Date | null {
  const every = everyDays(dose.timing);
  const elapsed = Math.max(span.startDay, dayNumber(today) - dayNumber(span.startedOn) - 1);
  const first = span.startDay + Math.ceil((elapsed - span.startDay) / every) * every;
  for (let day = first; day < span.endDay && day <= first + 2 * every + 2; day += every) {
    const times = [...dose.timesOfDay].sort().map(time => instantOf(plusDays(span.startedOn, day), time, span.timeZone));
    const next = times.find(at => at > from);
    if (next) return next;
  }
  return null;
}

/** A check-in opens in the morning of the member. */
const CHECK_IN_TIME = '08:00';

/** Check-ins of a plan in order, each with its number; the first of a phase lies on its first day. */
export function checkInsOf({ startedOn, timeZone, phases }: Running): PlannedCheckIn[] {
  const planned = phases.flatMap(({ startDay, endDay, checkIns }) =>
    checkIns.flatMap(({ templateKey, everyDays: every }) =>
      Array.from({ length: Math.ceil((endDay - startDay) / every) }, (_, index) => ({ templateKey, day: startDay + index * every })),
    ),
  );
  planned.sort((a, b) => a.day - b.day || (a.templateKey < b.templateKey ? -1 : 1));
  const counts = new Map<string, number>();
  return planned.map(({ templateKey, day }) => {
    const sequence = (counts.get(templateKey) ?? 0) + 1;
    counts.set(templateKey, sequence);
    return { templateKey, sequence, at: instantOf(plusDays(startedOn, day), CHECK_IN_TIME, timeZone) };
  });
}
