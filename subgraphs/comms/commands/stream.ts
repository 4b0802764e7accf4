import type { Context } from '../../../runtime/request/context.js';
import type { CommsInboxItem } from '../entities/inbox.js';

/** Tells the streams of a person that an item is new or has changed. */
export async function inboxChanged(_ctx: Context, _item: CommsInboxItem): Promise<void> {
  // filled in with the stream
}
