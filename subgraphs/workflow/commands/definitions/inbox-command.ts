import { z } from 'zod';
import { screeningStatusChanged, teamChatCommandReceived } from '../../../../events/catalogue/messaging.js';
import { after, MINUTE_MS } from '../../../../runtime/time/durations.js';
import { actOnConversation, INBOX_COMMANDS, type InboxCommand } from '../../ports/messaging.js';
import { defineWorkflow } from '../../ports/workflow.js';
import { DECISION } from './forms.js';

/** What whoever works the care inbox holds. Source: identity A8. */
const PERMISSION = 'admin:comms:inbox';
/** What the screening becomes by a command. */
const SCREENED: Readonly<Partial<Record<InboxCommand, string>>> = { clear: 'cleared', block: 'blocked' };

const isCommand = (text: string): text is InboxCommand => (INBOX_COMMANDS as readonly string[]).includes(text);

/**
 * A command of the team chat is carried out once whoever gave it has confirmed it under a token that may; a block by a rule stands only
 * if somebody of support confirms it. Other commands are refused. Source: workflow 3.
 */
export const inboxCommand = defineWorkflow({
  key: 'inbox_command',
  title: 'Command of the care inbox',
  version: 1,
  owner: 'messaging',
  steps: ['act'],
  timeoutDays: 2,
  maxConcurrent: 20,
  input: z.object({ command: z.string().max(64), conversation_id: z.uuid().nullable(), staff_id: z.uuid().nullable() }),
  events: [
    {
      on: teamChatCommandReceived,
      keyExpr: '{data.command_id}',
      input: ({ data }) => ({ command: data.command, conversation_id: data.conversation_id, staff_id: data.staff_id }),
    },
    {
      on: screeningStatusChanged,
      keyExpr: '{id}',
      filter: { actor_type: ['rule'], to: ['blocked'] },
      input: ({ data }) => ({ command: 'review_block', conversation_id: data.conversation_id, staff_id: null }),
    },
  ],
  async run(workflow, { command, conversation_id: conversationId, staff_id: staffId }) {
    const review = command === 'review_block' && staffId === null;
    if (!review && !isCommand(command)) return { outcome: 'refused', reason: 'command_not_allowed' };
    if (conversationId === null) return { outcome: 'refused', reason: 'no_conversation' };
    const minutes = review ? 24 * 60 : 15;
    const decided = await workflow.waitTask({
      title: review ? 'Confirm that a rule blocked a conversation' : `Confirm the command ${command}`,
      kind: 'inbox_command',
      subject: { type: 'conversation', id: conversationId },
      ...(staffId ? { assigneeId: staffId } : { assigneeRole: 'support' }),
      permission: PERMISSION,
      dueAt: after(await workflow.now(), minutes * MINUTE_MS),
      form: DECISION,
    });
    if (decided === null) return { outcome: 'not_confirmed' };
    if (review === decided.confirmed) return { outcome: review ? 'block_stands' : 'withdrawn' };
    const act: InboxCommand = review ? 'clear' : (command as InboxCommand);
    await workflow.step('act', step => actOnConversation(step, act, conversationId, staffId));
    return { outcome: 'done', screening: await screening(act) };

    /** Messaging reports by its event that the screening has changed. */
    async function screening(done: InboxCommand): Promise<string | null> {
      if (!SCREENED[done]) return null;
      const until = after(await workflow.now(), 5 * MINUTE_MS);
      const changed = await workflow.waitEvent(screeningStatusChanged.name, conversationId, until);
      return changed === null ? 'unconfirmed' : String(changed.to);
    }
  },
});
