import type { Context } from '../../../runtime/request/context.js';
import type { CommsMessage } from '../entities/message.js';
import { seesContent } from '../queries/messages.js';
import { openJson } from './sealed.js';

/** A message's words for who may read them; a member of staff who does leaves an audit row. */
export async function openContent(ctx: Context, message: CommsMessage): Promise<Record<string, unknown> | null> {
  if (message.contentSealed === null || !seesContent(ctx, message)) return null;
  const isStaff = ctx.caller.kind === 'user' && ctx.caller.userId !== message.userId;
  if (isStaff) await ctx.host.transaction(async own => own.audit('message.content_read', message.id), ctx.request);
  return openJson<Record<string, unknown>>(ctx.host, 'message.content', message.id, message.contentSealed);
}
