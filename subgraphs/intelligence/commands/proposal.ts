import { createHash } from 'node:crypto';
import { isUuid } from '../../../runtime/data/ids.js';
import { findRow, FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { preparation } from '../../../runtime/request/operation.js';
import { move } from '../../../runtime/request/states.js';
import { LoopProposal } from '../entities/loop.js';
import type { ApplyLoopProposalInput, ReviewLoopProposalInput } from '../inputs/governance.js';
import { versionOf } from '../queries/registry.js';
import { verifiesReviewers } from '../queries/settings.js';
import { PROPOSAL_STATES } from '../rules/states.js';
import { lockPolicy, makeChampion } from './registry.js';

const STAFF = stored('query Reviewer($id: ID!) { staffMember(id: $id) { id status } }');

interface Staff {
  staffMember: { status: string } | null;
}

/** Whether the reviewer is an active member of the staff; asked before the transaction, where that is to be verified at all. */
export const reviewerIsStaff = preparation(async (ctx: Context, { input }: { input: ReviewLoopProposalInput }): Promise<boolean> => {
  if (!verifiesReviewers(ctx)) return true;
  const reviewer = input.reviewerId.trim();
  const { staffMember } = isUuid(reviewer) ? await ctx.federation.run<Staff>(STAFF, { id: reviewer }) : { staffMember: null };
  return staffMember?.status === 'ACTIVE';
});

/** The proposal, locked: its policy first, so that no two changes of a champion wait for each other. @throws Problem not_found. */
const lockProposal = async (ctx: Context, id: string): Promise<LoopProposal> =>
  (await findRow(ctx, LoopProposal, { id }, { ...FOR_UPDATE, refresh: true })) ?? fail('not_found', 'Not found');

/** Notes are kept, but the audit log has their hash only. */
const notesHash = (notes: string | null | undefined): string | null =>
  notes == null ? null : createHash('sha256').update(notes).digest('hex');

/** A reviewer agrees or refuses; nothing that is served changes. @throws Problem invalid_request, not_found, conflict. */
export async function reviewProposal(
  ctx: Context,
  { id, reviewerId, notes }: ReviewLoopProposalInput,
  verdict: 'approve' | 'reject',
): Promise<LoopProposal> {
  if (!reviewerIsStaff.of(ctx)) invalid('/input/reviewerId', 'is no active member of the staff');
  const proposal = await lockProposal(ctx, id);
  const from = proposal.status;
  const status = move(PROPOSAL_STATES, 'proposal', from, verdict);
  Object.assign(proposal, { status, reviewerId: reviewerId.trim(), notes: notes ?? null, reviewedAt: ctx.now() });
  ctx.audit(`loop_proposal.${status}`, id, { from, to: status, reviewer_id: proposal.reviewerId, notes_sha256: notesHash(notes) });
  return proposal;
}

/** Makes the given version the champion and retires the prior one. @throws Problem not_found, and what {@link makeChampion} throws. */
export async function applyProposal(ctx: Context, input: ApplyLoopProposalInput): Promise<LoopProposal> {
  const named = await requireRow(ctx, LoopProposal, { id: input.id });
  const policy = await lockPolicy(ctx, named.policyId);
  const proposal = await lockProposal(ctx, input.id);
  const from = proposal.status;
  const status = move(PROPOSAL_STATES, 'proposal', from, 'apply');
  const version = await versionOf(ctx, policy.id, input.version);
  await makeChampion(ctx, policy, version, { ...input, action: 'promote' });
  const appliedBy = input.actorId ?? ctx.caller.clientId;
  Object.assign(proposal, { status, appliedVersion: version.number, appliedRegistryId: version.id, appliedBy, appliedAt: ctx.now() });
  ctx.audit('loop_proposal.applied', proposal.id, { from, to: status, version: version.number, actor_id: input.actorId ?? null });
  return proposal;
}

const QUEUE = (schema: string): string =>
  `insert into ${schema}.governance_queue (proposal_id, queued_at) values ($1, $2) on conflict do nothing`;

/** Puts a proposal into the review queue and writes to whoever governs. Source: spec 1, Emission and consumption ties. */
export async function queueProposal(ctx: Context, proposal: { id: string; policyKey: string; metric: string }): Promise<void> {
  await ctx.sql(QUEUE(ctx.schema), [proposal.id, ctx.now().toISOString()]);
  const message = {
    template: 'loop_proposal_raised',
    params: { policy_key: proposal.policyKey, metric: proposal.metric },
    dedupeKey: `loop_proposal_raised:${proposal.id}`,
    subject: `loop_proposal:${proposal.id}`,
  };
  requestMessage(ctx, { staffRole: 'admin' }, message);
}
