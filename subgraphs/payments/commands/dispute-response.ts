import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, Problem } from '../../../runtime/request/errors.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { requireRow } from '../../../runtime/data/rows.js';
import { Dispute } from '../entities/dispute.js';
import { opened, sealed } from '../entities/sealed.js';
import type { SubmitDisputeEvidenceInput } from '../inputs/dispute.js';
import type { ProcessorDispute, ProcessorResult } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { isChargeback, isOpen } from '../rules/dispute.js';
import { evidenceFault } from '../rules/evidence.js';
import { applyDispute, lockDispute, takeDisputeStep } from './dispute.js';

type Result = ProcessorResult<ProcessorDispute>;
type Evidence = Readonly<Record<string, string>>;

const stateOf = ({ status }: Dispute): string => status.replaceAll('_', ' ');

/** Evidence is sent once. */
async function intendEvidence(ctx: Context, { input }: { input: SubmitDisputeEvidenceInput }): Promise<string> {
  const fault = evidenceFault(input.evidence);
  if (fault !== null) invalid('/input/evidence', fault);
  const { dispute } = await lockDispute(ctx, input.id);
  if (dispute.evidenceSubmittedAt !== null)
    fail('conflict', 'The evidence of this dispute has been submitted', { reason: 'evidence_submitted' });
  if (!isOpen(dispute.status)) fail('conflict', `A dispute that is ${stateOf(dispute)} takes no evidence`);
  dispute.evidenceSealed = sealed(ctx, input.evidence, 'dispute', dispute.id);
  ctx.audit('dispute.evidence_intended', dispute.id, { texts: Object.keys(input.evidence).length });
  return dispute.id;
}

async function callEvidence(ctx: Context, id: string): Promise<Result> {
  const dispute = await requireRow(ctx, Dispute, { id });
  const evidence = opened<Evidence>(ctx, dispute.evidenceSealed, 'dispute', id) ?? {};
  const call = { idempotencyKey: `evidence:${id}`, clock: ctx.clock };
  return processorOf(ctx.host).submitEvidence({ disputeId: dispute.processorRef, evidence }, call);
}

export const evidence = twoPhases({ intend: intendEvidence, call: (ctx, { id }) => callEvidence(ctx, id) });

/** @throws Problem not_found, conflict unless the bank has taken the money. */
async function intendAcceptance(ctx: Context, { id }: { id: string }): Promise<string> {
  const { dispute } = await lockDispute(ctx, id);
  if (!isChargeback(dispute.status)) fail('conflict', `A dispute that is ${stateOf(dispute)} cannot be accepted`);
  ctx.audit('dispute.acceptance_intended', dispute.id);
  return dispute.id;
}

async function callAcceptance(ctx: Context, id: string): Promise<Result> {
  const { processorRef: disputeId } = await requireRow(ctx, Dispute, { id });
  return processorOf(ctx.host).acceptDispute({ disputeId }, { idempotencyKey: `accept:${id}`, clock: ctx.clock });
}

export const acceptance = twoPhases({ intend: intendAcceptance, call: (ctx, { id }) => callAcceptance(ctx, id) });

/** The processor's answer: the dispute as it is then, or why it was refused. */
async function answered(ctx: Context, id: string, result: Result): Promise<Dispute | Problem> {
  const processor = processorOf(ctx.host).name;
  if (result.status !== 'unknown' && result.data) await applyDispute(ctx, processor, result.data);
  if (result.status === 'unknown') return new Problem('unavailable', 'The processor did not answer', { retryAfter: 10 });
  const { dispute } = await lockDispute(ctx, id);
  if (result.status === 'declined') return new Problem('conflict', `The processor refuses it: the dispute is ${stateOf(dispute)}`);
  return dispute;
}

export async function evidenceSubmitted(ctx: Context): Promise<Dispute | Problem> {
  const { intent, outcome } = evidence.of(ctx);
  const answer = await answered(ctx, intent.id, outcome);
  if (answer instanceof Problem) return answer;
  answer.evidenceSubmittedAt ??= ctx.now();
  return answer;
}

/** What was accepted is lost, also where the processor decides it later. */
export async function disputeAccepted(ctx: Context): Promise<Dispute | Problem> {
  const { intent, outcome } = acceptance.of(ctx);
  const answer = await answered(ctx, intent.id, outcome);
  if (answer instanceof Problem || !isOpen(answer.status)) return answer;
  await takeDisputeStep(ctx, await lockDispute(ctx, intent.id), 'accept');
  return answer;
}
