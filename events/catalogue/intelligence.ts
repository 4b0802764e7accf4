import { defineEvent } from '../define.js';
import { code, data, id, num, ts } from '../payload.js';

const owner = 'intelligence' as const;

export const proposalRaised = defineEvent('intelligence.proposal.raised.v1',
  data({
    proposal_id: id(), policy_kind: code('threshold'), policy_key: code('retest_prompt_delay'), metric: code('retest_rate'), threshold: num(0.55),
    observed: num(0.62), registry_id: id().nullable(), raised_at: ts(),
  }),
  { owner, when: 'The Propose phase raises a proposal.', user: 'none', scope: null, consumers: ['intelligence', 'comms'] },
);
