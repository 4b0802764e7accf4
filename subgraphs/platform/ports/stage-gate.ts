import type { Context } from '../../../runtime/request/context.js';
import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { GateAnswer } from '../rules/flag-change.js';

/** One document for each stage: the stage is an enum of intelligence's, which this service does not name. */
const documents = new Map<string, StoredDocument>();

function documentOf(stage: string): StoredDocument {
  let document = documents.get(stage);
  if (!document) documents.set(stage, (document = stored(`query StageGate { stageGate(to: ${stage}) { met reasons } }`)));
  return document;
}

/** What decides in development and tests where intelligence is not there: the metrics of its first gate. Source: platform 8. */
export interface GateMetrics {
  joinCompleteness: number;
  stalled: boolean;
}

let fixture: GateMetrics | null = null;

/** Sets the metrics of the embedded gate; null: intelligence is asked. */
export const setGateMetrics = (metrics: GateMetrics | null): void => void (fixture = metrics);

/** Floor of join completeness. Source: intelligence 7.1. */
const COMPLETENESS_FLOOR = 0.8;

function fixtureAnswer(to: string, { joinCompleteness, stalled }: GateMetrics): GateAnswer {
  const reasons = [...(joinCompleteness < COMPLETENESS_FLOOR ? ['join_completeness'] : []), ...(stalled ? ['stalled'] : [])];
  return { to, met: reasons.length === 0, reasons };
}

/**
 * Whether a stage may be entered, asked of intelligence through the federation. Unreachable is not met. Never inside a transaction.
 * Source: platform 4.2.
 */
export async function askGate(ctx: Context, to: string): Promise<GateAnswer> {
  if (fixture && !ctx.host.config.production) return fixtureAnswer(to, fixture);
  try {
    const { stageGate } = await ctx.federation.run<{ stageGate: { met: boolean; reasons: string[] } }>(documentOf(to));
    return { to, met: stageGate.met, reasons: stageGate.reasons };
  } catch (error) {
    ctx.log.warn({ err: loggedError(error), stage: to }, 'the gate of a stage could not be asked; it counts as not met');
    return { to, met: false, reasons: ['unreachable'] };
  }
}
