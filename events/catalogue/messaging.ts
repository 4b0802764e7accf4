import { defineEvent } from '../define.js';
import { code, data, id, int, oneOf } from '../payload.js';

const owner = 'messaging' as const;

export const screeningStatusChanged = defineEvent('ops.inbox.screening_status_changed.v1',
  data({
    conversation_id: id(), from: oneOf('new', 'screening', 'cleared', 'blocked'), to: oneOf('new', 'screening', 'cleared', 'blocked'),
    actor_type: oneOf('staff', 'rule'), staff_id: id().nullable(),
  }),
  { owner, when: 'Staff or a rule changes how a conversation is screened.', user: 'optional', scope: null, consumers: ['comms', 'workflow'] },
);

export const teamChatCommandReceived = defineEvent('ops.inbox.team_chat_command_received.v1',
  data({ command_id: id(), command: code('assign'), conversation_id: id().nullable(), staff_id: id(), argument_count: int(2) }),
  { owner, when: 'A staff command arrives from the team chat.', user: 'optional', scope: null, consumers: ['workflow'] },
);
