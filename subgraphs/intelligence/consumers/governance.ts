import { proposalRaised } from '../../../events/catalogue/intelligence.js';
import { brandCacheInvalidated } from '../../../events/catalogue/platform.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { queueProposal } from '../commands/proposal.js';

const queued = handle(proposalRaised, (ctx: Context, { data }) =>
  queueProposal(ctx, { id: data.proposal_id, policyKey: data.policy_key, metric: data.metric }),
);

/** A changed stage is in force at once, not at the next poll. */
const flagsChanged = handle(brandCacheInvalidated, async (ctx: Context, { data }) => {
  if (data.keys.includes('flags')) ctx.afterCommit(() => ctx.flags.refresh());
});

/** A queue each, so that none waits for the other. Source: intelligence 5. */
export const governanceConsumers: readonly Consumer<Context>[] = [
  { name: 'intelligence.governance', on: [queued] },
  { name: 'intelligence.flags', on: [flagsChanged] },
];
