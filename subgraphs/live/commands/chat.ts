import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { Chatter } from '../ports/chat.js';
import { chatFeed } from './feeds.js';

/** Says something in a session's chat, under the room's pseudonym. */
export async function sayInChat(ctx: Context, { sessionId, participantId }: Chatter, text: string): Promise<{ id: string }> {
  const payload = { participant_id: participantId, text, at: ctx.now() };
  return { id: String(await chatFeed.append(ctx, sessionId, [{ type: 'message', payload }])) };
}

const MODERATES = `select 1 from live.live_participant p join live.live_session_host h on h.session_id = p.subject_id and h.user_id = p.user_id
  where p.subject_id = $1 and p.id = $2 and h.role <> 'speaker'`;

/** Whether a participant has a part in the host team that moderates the chat. */
export const moderatesNow = async (ctx: Context, sessionId: string, participantId: string): Promise<boolean> =>
  (await ctx.sql(MODERATES, [sessionId, participantId])).length > 0;

const BLANK =
  "update live.live_chat_feed_entry set type = 'erased', payload = decode('', 'hex') where stream_id = $1 and seq = $2::int and type = 'message' returning 1";

/** Takes a message away from those who come later, and tells those who have it. @throws Problem not_found */
export async function deleteMessage(ctx: Context, { sessionId }: Chatter, id: string): Promise<void> {
  if (!/^\d{1,9}$/.test(id) || (await ctx.sql(BLANK, [sessionId, id])).length === 0) fail('not_found', 'Not found');
  ctx.audit('live_chat.message_deleted', sessionId, { message: id });
  await chatFeed.append(ctx, sessionId, [{ type: 'message_removed', payload: { id } }]);
}
