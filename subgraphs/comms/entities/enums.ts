import { registerEnums } from '../../../runtime/schema/enums.js';

export enum CommsChannel {
  EMAIL = 'email',
  SMS = 'sms',
  PUSH = 'push',
  IN_APP = 'in_app',
}

export enum CommsCategory {
  TRANSACTIONAL = 'transactional',
  CLINICAL = 'clinical',
  MARKETING = 'marketing',
}

export enum CommsMessageStatus {
  PENDING = 'pending',
  SCHEDULED = 'scheduled',
  QUEUED = 'queued',
  SENDING = 'sending',
  SENT = 'sent',
  DELIVERED = 'delivered',
  BOUNCED = 'bounced',
  FAILED = 'failed',
  COMPLAINED = 'complained',
  SKIPPED = 'skipped',
  CANCELLED = 'cancelled',
}

export enum CommsInboxItemStatus {
  UNSEEN = 'unseen',
  SEEN = 'seen',
  READ = 'read',
  ARCHIVED = 'archived',
}

export enum CommsInboxItemPriority {
  NORMAL = 'normal',
  HIGH = 'high',
}

export enum CommsInboxAction {
  READ = 'read',
  UNREAD = 'unread',
  ARCHIVE = 'archive',
  RESTORE = 'restore',
}

export enum CommsTemplateVersionStatus {
  DRAFT = 'draft',
  PUBLISHED = 'published',
}

export enum CommsTemplateAudience {
  USER = 'user',
  STAFF = 'staff',
  CLIENT_OWNER = 'client_owner',
}

export enum CommsSendRequestStatus {
  ACCEPTED = 'accepted',
  EXPANDED = 'expanded',
  REJECTED = 'rejected',
}

export enum CommsSuppressionReason {
  HARD_BOUNCE = 'hard_bounce',
  COMPLAINT = 'complaint',
  STOP = 'stop',
  UNSUBSCRIBE = 'unsubscribe',
  MANUAL = 'manual',
  INVALID = 'invalid',
}

export enum PushPlatform {
  WEB = 'web',
  IOS = 'ios',
  ANDROID = 'android',
}

export enum PushSubscriptionStatus {
  ACTIVE = 'active',
  GONE = 'gone',
}

export enum CommsDigestStatus {
  COLLECTING = 'collecting',
  SENT = 'sent',
  EMPTY = 'empty',
  CANCELLED = 'cancelled',
}

export enum CommsLockScreenDetail {
  HIDDEN = 'hidden',
  SHOWN = 'shown',
}

export enum CommsMentionDigest {
  IMMEDIATE = 'immediate',
  DAILY = 'daily',
  WEEKLY = 'weekly',
  OFF = 'off',
}

export enum CommsStatsGroup {
  TEMPLATE = 'template',
  CHANNEL = 'channel',
  DAY = 'day',
}

registerEnums(
  {
    CommsChannel,
    CommsCategory,
    CommsMessageStatus,
    CommsInboxItemStatus,
    CommsInboxItemPriority,
    CommsInboxAction,
    CommsTemplateVersionStatus,
    CommsTemplateAudience,
    CommsSendRequestStatus,
    CommsSuppressionReason,
    PushPlatform,
    PushSubscriptionStatus,
    CommsLockScreenDetail,
    CommsMentionDigest,
    CommsStatsGroup,
  },
  {
    CommsMessageStatus: 'A skipped message was not sent, and says why.',
    CommsSuppressionReason: 'Why an address gets nothing, or not everything.',
    CommsLockScreenDetail: 'Whether what is sent may name health facts outside the app.',
  },
);
