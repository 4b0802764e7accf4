import { Problem } from '../../../runtime/request/errors.js';
import { ask, question } from './ask.js';
import type { StepContext } from './workflow.js';

const PREVIEW = question(
  'comms',
  'query WorkflowDigestPreview { result: previewCommsTemplate(input: { key: "mention_digest", channel: EMAIL }) { subject } }',
);
const DUE = question('community', 'query WorkflowDigestsDue { result: mentionDigestsDue }');

/** The answer, or what stands for it in a suite without the service. @throws Problem of the service, unavailable while one that is there does not answer. */
async function unlessAbsent<Result>(owner: string, answer: Promise<{ result: Result }>, absent: Result): Promise<Result> {
  try {
    return (await answer).result;
  } catch (error) {
    if (error instanceof Problem && error.options.reason === `${owner}_not_available`) return absent;
    throw error;
  }
}

/** How many would get a digest now; 0 without community. */
export const digestsDue = (step: StepContext): Promise<number> => unlessAbsent('community', ask<{ result: number }>(step, DUE, {}), 0);

/** Subject of the digest as comms renders it from its example; null without comms. @throws Problem for a template that cannot be rendered. */
export const digestPreview = async (step: StepContext): Promise<string | null> =>
  (await unlessAbsent('comms', ask<{ result: { subject: string } | null }>(step, PREVIEW, {}), null))?.subject ?? null;
