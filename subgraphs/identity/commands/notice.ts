import { messageSendRequested } from '../../../events/catalogue/comms.js';
import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';

/** Asks comms to tell a user what happened to the account; `kind` chooses the text. No address, link or code. Needs a transaction. */
export function sendNotice(ctx: Context, userId: string, kind: string): void {
  const id = newId();
  ctx.emit(
    messageSendRequested,
    {
      request_id: id,
      template: 'security_notice',
      channels: ['email'],
      recipient_type: 'user',
      recipient_id: null,
      params: { kind },
      dedupe_key: `security_notice:${id}`,
      send_after: null,
      category: 'transactional',
    },
    { userId },
  );
}
