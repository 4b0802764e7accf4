import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { Chatter } from '../ports/chat.js';
import { chatFeed } from './feeds.js';

/** Says something in a session's chat, under the room's pseudonym. */
export async function sayInChat(ctx: Context, { sessionId, participantId }: Chatter, text: string): Promise<{ id: string }> {
  const payload = { participant_id: participantId, text, at: ctx.now() };
  return { id: String(await chatFeed.append(ctx, sessionId, [{ type: 'message', payload }])) };
}

const BLANK =
  "update live.live_chat_feed_entry set type = 'erased', payload = decode('', 'hex') where stream_id = $1 and seq = $2::int and type = 'message' returning 1";

/** Takes a message away from those who come later, and tells those who have it. @throws Problem not_found */
export async function deleteMessage(ctx: Context, { sessionId }: Chatter, id: string): Promise<void> {
  if (!/^\d{1,9}$/.test(id) || (await ctx.sql(BLANK, [sessionId, id])).length === 0) fail('not_found', 'Not found');
  ctx.audit('live_chat.message_deleted', sessionId, { message: id });
  await chatFeed.append(ctx, sessionId, [{ type: 'message_removed', payload: { id } }]);
}
