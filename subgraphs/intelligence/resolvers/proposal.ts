import { LockMode } from '@mikro-orm/postgresql';
import { createHash } from 'node:crypto';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { stored } from '../../../runtime/federation/federation.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { LoopProposal, LoopProposalConnection } from '../entities/loop.js';
import { GOVERNORS, READERS } from '../entities/enums.js';
import { ApplyLoopProposalInput, LoopProposalsArgs, ReviewLoopProposalInput } from '../inputs/governance.js';
import { PROPOSAL_STATES } from '../rules/states.js';
import { lockPolicy, makeChampion, versionOf } from '../commands/registry-store.js';
import { verifiesReviewers } from '../queries/settings.js';

const STAFF = stored('query Reviewer($id: ID!) { staffMember(id: $id) { id status } }');

interface Staff {
  staffMember: { status: string } | null;
}

/** Whether the reviewer is an active member of the staff; asked before the transaction, where that is asked for at all. */
async function reviewerIsStaff(ctx: Context, { input }: { input: ReviewLoopProposalInput }): Promise<boolean> {
  if (!verifiesReviewers(ctx)) return true;
  const reviewer = input.reviewerId.trim();
  const { staffMember } = isUuid(reviewer) ? await ctx.federation.run<Staff>(STAFF, { id: reviewer }) : { staffMember: null };
  return staffMember?.status === 'ACTIVE';
}

/** The proposal, locked: its policy first, so that no two changes of a champion wait for each other. @throws Problem not_found. */
async function load(ctx: Context, id: string): Promise<LoopProposal> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true };
  return (isUuid(id) ? await ctx.em.findOne(LoopProposal, { id }, lock) : null) ?? fail('not_found', 'Not found');
}

/** Notes are kept, but not told to the audit log. */
const notesHash = (notes: string | null | undefined): string | null =>
  notes == null ? null : createHash('sha256').update(notes).digest('hex');

async function review(
  ctx: Context,
  { id, reviewerId, notes }: ReviewLoopProposalInput,
  verdict: 'approve' | 'reject',
): Promise<LoopProposal> {
  if (!ctx.facts) invalid('/input/reviewerId', 'is no active member of the staff');
  const proposal = await load(ctx, id);
  const from = proposal.status;
  const status = move(PROPOSAL_STATES, 'proposal', from, verdict);
  Object.assign(proposal, { status, reviewerId: reviewerId.trim(), notes: notes ?? null, reviewedAt: ctx.now() });
  ctx.audit(`loop_proposal.${status}`, id, { from, to: status, reviewer_id: proposal.reviewerId, notes_sha256: notesHash(notes) });
  return proposal;
}

const given = (values: object): object => Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));

@Resolver(() => LoopProposal)
export class ProposalResolver {
  @Access(READERS)
  @Query(() => LoopProposalConnection, { description: 'Proposals, newest first; RAISED is the review queue.' })
  loopProposals(
    @Args(() => LoopProposalsArgs) { first, after, ...asked }: LoopProposalsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LoopProposal>> {
    return page<LoopProposal>(ctx.em, LoopProposal, given(asked) as never, { first, after }, { time: 'raisedAt' });
  }

  @Access(READERS)
  @Query(() => LoopProposal, { nullable: true })
  async loopProposal(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LoopProposal | null> {
    return isUuid(id) ? ctx.em.findOne(LoopProposal, { id }) : null;
  }

  @Access(GOVERNORS)
  @Prepare(reviewerIsStaff)
  @Mutation(() => LoopProposal, { description: 'A reviewer agrees. Nothing that is served changes yet.' })
  approveLoopProposal(
    @Arg('input', () => ReviewLoopProposalInput) input: ReviewLoopProposalInput,
    @Ctx() ctx: Context,
  ): Promise<LoopProposal> {
    return review(ctx, input, 'approve');
  }

  @Access(GOVERNORS)
  @Prepare(reviewerIsStaff)
  @Mutation(() => LoopProposal, { description: 'A reviewer refuses; the same advice is not raised again for a week.' })
  rejectLoopProposal(
    @Arg('input', () => ReviewLoopProposalInput) input: ReviewLoopProposalInput,
    @Ctx() ctx: Context,
  ): Promise<LoopProposal> {
    return review(ctx, input, 'reject');
  }

  @Access(GOVERNORS)
  @Mutation(() => LoopProposal, { description: 'Makes the given version the champion and retires the prior one, in one transaction.' })
  async applyLoopProposal(
    @Arg('input', () => ApplyLoopProposalInput) input: ApplyLoopProposalInput,
    @Ctx() ctx: Context,
  ): Promise<LoopProposal> {
    const named = (isUuid(input.id) ? await ctx.em.findOne(LoopProposal, { id: input.id }) : null) ?? fail('not_found', 'Not found');
    const policy = await lockPolicy(ctx, named.policyId);
    const proposal = await load(ctx, input.id);
    const from = proposal.status;
    const status = move(PROPOSAL_STATES, 'proposal', from, 'apply');
    const version = await versionOf(ctx, policy.id, input.version);
    await makeChampion(ctx, policy, version, { ...input, action: 'promote' });
    const appliedBy = input.actorId ?? ctx.caller.clientId;
    Object.assign(proposal, { status, appliedVersion: version.number, appliedRegistryId: version.id, appliedBy, appliedAt: ctx.now() });
    ctx.audit('loop_proposal.applied', proposal.id, { from, to: status, version: version.number, actor_id: input.actorId ?? null });
    return proposal;
  }
}
