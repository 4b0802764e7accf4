import { defineEvent } from '../define.js';
import { bool, data, id, int, ts } from '../payload.js';

const owner = 'workflow' as const;

export const workflowCanary = defineEvent('platform.workflow.canary.v1',
  data({ probe_id: id(), run_id: id(), sent_at: ts() }),
  { owner, when: 'A probe through a whole workflow run.', user: 'none', scope: null, consumers: ['platform', 'events'] },
);

export const communityDigestTest = defineEvent('workflow.community_digest_test.v1',
  data({ run_id: id(), recipients: int(12), dry_run: bool() }),
  { owner, when: 'A dry run of the digest workflow.', user: 'none', scope: null, consumers: ['community'] },
);
