import { ask, question, type Question } from './ask.js';
import type { StepContext } from './workflow.js';

const PAGE = 'pageInfo { endCursor hasNextPage }';

const ALERTS = question(
  'clinical',
  `query WorkflowCriticalAlerts($userId: ID!, $after: String) { result: criticalAlerts(userId: $userId, first: 100, after: $after) { nodes { id status } ${PAGE} } }`,
);
const FLAGS = question(
  'clinical',
  `query WorkflowRedFlags($userId: ID!, $after: String) { result: redFlags(userId: $userId, first: 100, after: $after) { nodes { id status } ${PAGE} } }`,
);
const INTERVENTIONS = question(
  'clinical',
  `query WorkflowInterventions($userId: ID!, $after: String) { result: interventions(userId: $userId, first: 100, after: $after) { nodes { id status } ${PAGE} } }`,
);

interface Answer {
  result: { nodes: { id: string; status: string }[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } };
}

/** The status of one of the user's rows, upper case; null when it is not there (any more). Reads ids and states, no health value. */
async function statusOf(step: StepContext, asked: Question, id: string): Promise<string | null> {
  for (let after: string | null = null; ;) {
    const { result }: Answer = await ask<Answer>(step, asked, { userId: step.userId, after });
    const found = result.nodes.find(node => node.id === id);
    if (found) return found.status;
    if (!result.pageInfo.hasNextPage) return null;
    after = result.pageInfo.endCursor;
  }
}

export const criticalAlertStatus = (step: StepContext, id: string): Promise<string | null> => statusOf(step, ALERTS, id);
export const redFlagStatus = (step: StepContext, id: string): Promise<string | null> => statusOf(step, FLAGS, id);
export const interventionStatus = (step: StepContext, id: string): Promise<string | null> => statusOf(step, INTERVENTIONS, id);
