import { registerEnums } from '../../../runtime/schema/enums.js';

export enum LiveSessionKind {
  BROADCAST = 'broadcast',
  GROUP = 'group',
  ONE_TO_ONE = 'one_to_one',
}

export enum LiveSessionStatus {
  DRAFT = 'draft',
  SCHEDULED = 'scheduled',
  LIVE = 'live',
  ENDED = 'ended',
  CANCELLED = 'cancelled',
}

export enum LiveVisibility {
  PUBLIC = 'public',
  UNLISTED = 'unlisted',
  INVITE = 'invite',
}

export enum LivePromotionMode {
  AUTO = 'auto',
  OFFER = 'offer',
}

export enum LiveModeration {
  PRE = 'pre',
  POST = 'post',
}

export enum LiveSessionEndReason {
  HOST = 'host',
  STAFF = 'staff',
  VENDOR = 'vendor',
  OVERRUN = 'overrun',
}

export enum LiveAccessReason {
  NONE = 'none',
  FEATURE_REQUIRED = 'feature_required',
  INVITE_ONLY = 'invite_only',
}

export enum LiveHostRole {
  HOST = 'host',
  CO_HOST = 'co_host',
  SPEAKER = 'speaker',
  MODERATOR = 'moderator',
}

export enum LiveRole {
  HOST = 'host',
  CO_HOST = 'co_host',
  SPEAKER = 'speaker',
  MODERATOR = 'moderator',
  VIEWER = 'viewer',
}

export enum LiveRegistrationStatus {
  CONFIRMED = 'confirmed',
  WAITLISTED = 'waitlisted',
  OFFERED = 'offered',
  CANCELLED = 'cancelled',
  EXPIRED = 'expired',
}

export enum LiveRegistrationSource {
  SELF = 'self',
  STAFF = 'staff',
  HOST = 'host',
  INVITE = 'invite',
  JOIN = 'join',
  PROMOTION = 'promotion',
}

export enum LiveCancelledBy {
  SELF = 'self',
  HOST = 'host',
  STAFF = 'staff',
  SYSTEM = 'system',
}

export enum LiveQuestionStatus {
  PENDING = 'pending',
  APPROVED = 'approved',
  REJECTED = 'rejected',
  ANSWERED = 'answered',
  HIDDEN = 'hidden',
  WITHDRAWN = 'withdrawn',
  REMOVED = 'removed',
}

export enum LiveQuestionSort {
  TOP = 'top',
  NEW = 'new',
}

export enum LiveCallKind {
  ONE_TO_ONE = 'one_to_one',
  GROUP = 'group',
}

export enum LiveCallStatus {
  CREATED = 'created',
  ACTIVE = 'active',
  ENDED = 'ended',
  EXPIRED = 'expired',
  CANCELLED = 'cancelled',
}

export enum LiveCallEndReason {
  HANG_UP = 'hang_up',
  HOST = 'host',
  STAFF = 'staff',
  SOLO_TIMEOUT = 'solo_timeout',
  WINDOW_OVER = 'window_over',
  VISIT_CANCELLED = 'visit_cancelled',
}

export enum LiveCallReferenceType {
  VISIT = 'visit',
  CONVERSATION = 'conversation',
  NONE = 'none',
}

export enum LiveCallRole {
  HOST = 'host',
  GUEST = 'guest',
}

export enum LiveCallParticipantState {
  INVITED = 'invited',
  JOINED = 'joined',
  LEFT = 'left',
  REMOVED = 'removed',
}

export enum LiveRecordingStatus {
  PROCESSING = 'processing',
  READY = 'ready',
  FAILED = 'failed',
  DELETED = 'deleted',
}

export enum LiveJoinMode {
  WEBRTC = 'webrtc',
  HLS = 'hls',
}

export enum LiveInclude {
  DELETED = 'deleted',
}

registerEnums(
  {
    LiveSessionKind,
    LiveSessionStatus,
    LiveVisibility,
    LivePromotionMode,
    LiveModeration,
    LiveSessionEndReason,
    LiveAccessReason,
    LiveHostRole,
    LiveRole,
    LiveRegistrationStatus,
    LiveRegistrationSource,
    LiveCancelledBy,
    LiveQuestionStatus,
    LiveQuestionSort,
    LiveCallKind,
    LiveCallStatus,
    LiveCallEndReason,
    LiveCallReferenceType,
    LiveCallRole,
    LiveCallParticipantState,
    LiveRecordingStatus,
    LiveJoinMode,
    LiveInclude,
  },
  {
    LiveSessionKind: 'BROADCAST: few speak, many watch; GROUP: all may speak; ONE_TO_ONE: the host and one other.',
    LiveVisibility: 'PUBLIC is listed, UNLISTED found by its id only, INVITE seen by those who were registered by the host team or staff.',
    LivePromotionMode: 'AUTO: a freed seat is confirmed at once; OFFER: it must be taken within a window.',
    LiveModeration: 'PRE: a question is hidden until it is approved.',
    LiveQuestionSort: 'TOP: by votes.',
    LiveRegistrationStatus: 'OFFERED holds a seat until `confirmBy`.',
  },
);
