import type { TransitionTable } from '../../../runtime/request/states.js';
import { CommsInboxAction as Action, CommsInboxItemStatus as Item, CommsMessageStatus as Status } from '../entities/enums.js';

export type MessageTrigger =
  'schedule' | 'queue' | 'skip' | 'cancel' | 'send' | 'accept' | 'retry' | 'fail' | 'bounce' | 'deliver' | 'complain';

/** Source: comms 3, Message. What is not here is a conflict. */
export const MESSAGE_STATES: TransitionTable<Status, MessageTrigger> = {
  pending: { schedule: Status.SCHEDULED, queue: Status.QUEUED, skip: Status.SKIPPED, cancel: Status.CANCELLED },
  scheduled: { schedule: Status.SCHEDULED, queue: Status.QUEUED, skip: Status.SKIPPED, cancel: Status.CANCELLED },
  queued: {
    schedule: Status.SCHEDULED,
    send: Status.SENDING,
    skip: Status.SKIPPED,
    cancel: Status.CANCELLED,
    deliver: Status.DELIVERED,
    fail: Status.FAILED,
  },
  sending: { accept: Status.SENT, retry: Status.QUEUED, fail: Status.FAILED, bounce: Status.BOUNCED, skip: Status.SKIPPED },
  sent: { deliver: Status.DELIVERED, bounce: Status.BOUNCED, fail: Status.FAILED, complain: Status.COMPLAINED },
  delivered: { complain: Status.COMPLAINED },
  bounced: {},
  failed: {},
  complained: {},
  skipped: {},
  cancelled: {},
};

/** Source: comms 3, Inbox item. A repeat is no change. */
export const INBOX_STATES: Readonly<Record<Item, Readonly<Partial<Record<Action, Item>>>>> = {
  unseen: { read: Item.READ, unread: Item.UNSEEN, archive: Item.ARCHIVED },
  seen: { read: Item.READ, unread: Item.UNSEEN, archive: Item.ARCHIVED },
  read: { read: Item.READ, unread: Item.UNSEEN, archive: Item.ARCHIVED, restore: Item.READ },
  archived: { archive: Item.ARCHIVED, restore: Item.READ },
};
