/** A report of the vendor, in our words. */
export interface VendorEvent {
  /** Of the vendor; a repeat has the same. */
  id: string;
  type:
    | 'room_started'
    | 'room_finished'
    | 'participant_joined'
    | 'participant_left'
    | 'egress_started'
    | 'egress_ended'
    | 'ingress_started'
    | 'ingress_ended'
    | 'error'
    | 'other';
  room: string | null;
  participantId: string | null;
  /** The vendor's id of one connection. */
  sid: string | null;
  /** Whether the participant may speak, where the report says it. */
  canPublish?: boolean | null;
  egress: { ref: string; failed: boolean; durationSeconds: number | null; sizeBytes: number | null } | null;
}

export interface VendorParticipant {
  participantId: string;
  sid: string;
  /** Null: the vendor does not say it. */
  canPublish: boolean | null;
}

export interface JoinGrant {
  room: string;
  participantId: string;
  canPublish: boolean;
  canPublishData: boolean;
}

export interface JoinToken {
  token: string;
  expiresAt: Date;
}

export type HeaderReader = (name: string) => string | null;

/** Tokens matter at connect only; the vendor renews clients that are connected. Source: live 7.6. */
export const TOKEN_SECONDS = 300;

/** The streaming vendor: media and rooms are its business, and it knows participants by pseudonyms only. Source: live 8. */
export interface StreamingProvider {
  readonly name: 'livekit' | 'embedded';
  /** Where clients connect. */
  readonly url: string;
  /** Making one that is there does no harm. */
  createRoom(room: string): Promise<void>;
  /** Closing one that is not there does no harm. */
  closeRoom(room: string): Promise<void>;
  issueJoinToken(grant: JoinGrant): Promise<JoinToken>;
  listParticipants(room: string): Promise<VendorParticipant[]>;
  removeParticipant(room: string, participantId: string): Promise<void>;
  setPermissions(room: string, participantId: string, canPublish: boolean): Promise<void>;
  startRecording(room: string): Promise<void>;
  stopRecording(room: string): Promise<void>;
  /** Signed address of a room on air (null) or of a recording, ≤ 10 min; null where it has none. */
  playbackUrl(room: string, recording: string | null): string | null;
  /** Null: the signature is not the vendor's. @throws Problem invalid_request for a signed body that is no report. */
  verifyWebhook(raw: Buffer, header: HeaderReader): Promise<VendorEvent | null>;
}
