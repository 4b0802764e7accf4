import { ask, question, type Question } from './ask.js';
import { FinalFailure, type StepContext } from './workflow.js';
import { Problem } from '../../../runtime/request/errors.js';

const SCREEN = question(
  'messaging',
  'mutation WorkflowScreen($input: ScreenConversationInput!) { result: screenConversation(input: $input) { id } }',
);
const ASSIGN = question(
  'messaging',
  'mutation WorkflowAssign($input: AssignConversationInput!) { result: assignConversation(input: $input) { id } }',
);
const CLOSE = question('messaging', 'mutation WorkflowClose($id: ID!) { result: closeConversation(id: $id) { id } }');

/** Commands of the team chat that a run may carry out. Source: messaging 5. */
export const INBOX_COMMANDS = ['assign', 'clear', 'block', 'close'] as const;
export type InboxCommand = (typeof INBOX_COMMANDS)[number];

const ACTS: Readonly<Record<InboxCommand, (id: string, staffId: string | null) => [Question, object]>> = {
  assign: (id, staffId) => [ASSIGN, { input: { id, staffId } }],
  clear: id => [SCREEN, { input: { id, to: 'CLEARED' } }],
  block: id => [SCREEN, { input: { id, to: 'BLOCKED' } }],
  close: id => [CLOSE, { id }],
};

/** @throws FinalFailure while there is no messaging service: the run fails, and can be resumed once there is. */
export async function actOnConversation(step: StepContext, command: InboxCommand, id: string, staffId: string | null): Promise<null> {
  const [asked, variables] = ACTS[command](id, staffId);
  await ask(step, asked, variables).catch(error => {
    if (error instanceof Problem && error.options.reason === 'messaging_not_available') throw new FinalFailure(error.options.reason);
    throw error;
  });
  return null;
}
