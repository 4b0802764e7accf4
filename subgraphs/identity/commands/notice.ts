import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { requestMessage } from '../../../runtime/request/messages.js';

/** Asks comms to tell a user what happened to the account; `kind` chooses the text. No address, link or code. Needs a transaction. */
export function sendNotice(ctx: Context, userId: string, kind: string): void {
  const id = newId();
  requestMessage(ctx, { userId }, { id, template: 'security_notice', params: { kind }, dedupeKey: `security_notice:${id}` });
}
