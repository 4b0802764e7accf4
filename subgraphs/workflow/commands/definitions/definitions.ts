import { z } from 'zod';
import { communityDigestTest, workflowCanary } from '../../../../events/catalogue/workflow.js';
import { after, SECOND_MS } from '../../../../runtime/time/durations.js';
import { digestPreview, digestsDue } from '../../ports/digest.js';
import { runLoopTick } from '../../ports/loop.js';
import { settingsOf } from '../../ports/settings.js';
import { defineWorkflow, type WorkflowDefinitionCode } from '../../ports/workflow.js';
import { criticalLabEscalation } from './escalation.js';
import { consultFollowUp, redFlagFollowUp } from './follow-ups.js';
import { inboxCommand } from './inbox-command.js';
import { protocolOnboarding } from './onboarding.js';

/** Seconds. */
const MINUTE = 60;

/**
 * Asks intelligence to run its loop, once for each hour. Somebody else's tick is as good; a service that is not there is asked again
 * after 1, 5 and 15 minutes. It never approves, applies or promotes: svc-workflow may not. Source: workflow 3 [S].
 */
const intelligenceLoop = defineWorkflow({
  key: 'intelligence_loop',
  title: 'Tick of the intelligence loop',
  version: 1,
  owner: 'intelligence',
  steps: ['tick'],
  timeoutDays: 1,
  maxConcurrent: 1,
  input: z.object({}),
  schedule: { cron: host => settingsOf(host).loopTickCron, timeZone: 'UTC', misfire: 'once' },
  run: async workflow =>
    workflow.step('tick', ({ host }) => runLoopTick(host, `loop:${workflow.key}`), { delays: [MINUTE, 5 * MINUTE, 15 * MINUTE] }),
});

/** A probe through everything that a run is made of: steps, a timer, an event. Source: workflow 3. */
const canary = defineWorkflow({
  key: 'canary',
  title: 'Probe through a whole run',
  version: 1,
  owner: 'workflow',
  steps: ['begin', 'emit'],
  timeoutDays: 1,
  maxConcurrent: 1,
  input: z.object({}),
  schedule: { cron: () => '* * * * *', timeZone: 'UTC', misfire: 'skip' },
  async run(workflow) {
    const { probe_id } = await workflow.step('begin', async () => ({ probe_id: workflow.runId }));
    const now = await workflow.now();
    await workflow.sleepUntil(after(now, SECOND_MS));
    await workflow.step('emit', async ({ once }) => {
      await once(ctx => ctx.emit(workflowCanary, { probe_id, run_id: workflow.runId, sent_at: ctx.now().toISOString() }, {}));
      return null;
    });
    return { probe_id };
  },
});

/**
 * A look at the weekly digest: it is rendered as comms would send it, and counted by community, which alone sends digests. A preview that
 * fails fails the run; the dry run reports by its event. Source: workflow 3.
 */
const communityDigest = defineWorkflow({
  key: 'community_digest',
  title: 'Digest of the community',
  version: 2,
  owner: 'community',
  steps: ['collect', 'render', 'report'],
  timeoutDays: 2,
  maxConcurrent: 1,
  input: z.object({ dry_run: z.boolean().optional() }),
  schedule: { cron: () => '0 8 * * 1', timeZone: 'UTC', misfire: 'skip' },
  async run(workflow, { dry_run: dryRun = false }) {
    const { recipients } = await workflow.step('collect', async step => ({ recipients: await digestsDue(step) }));
    const { subject } = await workflow.step('render', async step => ({ subject: await digestPreview(step) }));
    if (dryRun)
      await workflow.step('report', async ({ once }) => {
        await once(ctx => ctx.emit(communityDigestTest, { run_id: workflow.runId, recipients, dry_run: true }, {}));
        return null;
      });
    return { recipients, subject, dry_run: dryRun };
  },
});

/** Everything that this process can execute, by key. */
export const DEFINITIONS: ReadonlyMap<string, WorkflowDefinitionCode> = new Map(
  [
    intelligenceLoop,
    criticalLabEscalation,
    redFlagFollowUp,
    consultFollowUp,
    protocolOnboarding,
    inboxCommand,
    communityDigest,
    canary,
  ].map(one => [one.key, one]),
);
