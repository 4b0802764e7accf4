import type { RoomServiceClient, WebhookEvent, WebhookReceiver } from 'livekit-server-sdk';
import { lazyPackage } from '../../../runtime/lazy.js';
import { fail } from '../../../runtime/request/errors.js';
import {
  TOKEN_SECONDS,
  type HeaderReader,
  type JoinGrant,
  type JoinToken,
  type StreamingProvider,
  type VendorEvent,
  type VendorParticipant,
} from './provider.js';

/** 0.24 s of CPU and 36 MB, for whom LiveKit is the vendor. */
const sdk = lazyPackage<typeof import('livekit-server-sdk')>(import.meta.url, 'livekit-server-sdk');

const REQUEST_SECONDS = 5;
const TOLERANCE_SECONDS = 10;
/** Seconds that an empty room waits for its first and after its last participant; the service closes rooms itself. */
const EMPTY_SECONDS = 3_600;

const TYPES: Readonly<Record<string, VendorEvent['type']>> = {
  room_started: 'room_started',
  room_finished: 'room_finished',
  participant_joined: 'participant_joined',
  participant_left: 'participant_left',
  participant_connection_aborted: 'participant_left',
  egress_started: 'egress_started',
  egress_ended: 'egress_ended',
  ingress_started: 'ingress_started',
  ingress_ended: 'ingress_ended',
};

/** `EGRESS_COMPLETE` and `EGRESS_LIMIT_REACHED`, which has what was recorded until then; `EGRESS_FAILED` and `EGRESS_ABORTED`. Others are under way. */
const DONE: readonly number[] = [3, 6];
const FAILED: readonly number[] = [4, 5];

function egressOf({ egressInfo }: WebhookEvent): VendorEvent['egress'] {
  if (!egressInfo) return null;
  const file = egressInfo.fileResults?.[0];
  const seconds = file ? Math.round(Number(file.duration) / 1e9) : 0;
  return {
    ref: egressInfo.egressId,
    failed: FAILED.includes(egressInfo.status),
    durationSeconds: DONE.includes(egressInfo.status) ? seconds : null,
    sizeBytes: file ? Number(file.size) : null,
  };
}

const isMissing = (error: unknown): boolean => error instanceof sdk().TwirpError && error.status === 404;

/** LiveKit by its own SDK. Tokens are made here; of recordings only its reports are known, they are the operator's egress. */
export class LivekitProvider implements StreamingProvider {
  readonly name = 'livekit';
  readonly #rooms: RoomServiceClient;
  readonly #receivers: WebhookReceiver[];

  constructor(
    readonly url: string,
    private readonly keys: readonly (readonly [string, string])[],
  ) {
    const [key, secret] = keys[0]!;
    this.#rooms = new (sdk().RoomServiceClient)(url.replace(/^ws/, 'http'), key, secret, {
      requestTimeout: REQUEST_SECONDS,
      failover: false,
    });
    this.#receivers = keys.map(([id, value]) => new (sdk().WebhookReceiver)(id, value));
  }

  async createRoom(name: string): Promise<void> {
    await this.#rooms.createRoom({ name, emptyTimeout: EMPTY_SECONDS, departureTimeout: EMPTY_SECONDS });
  }

  async closeRoom(name: string): Promise<void> {
    await this.#rooms.deleteRoom(name).catch(error => (isMissing(error) ? undefined : Promise.reject(error)));
  }

  async issueJoinToken({ room, participantId, canPublish, canPublishData }: JoinGrant): Promise<JoinToken> {
    const [key, secret] = this.keys[0]!;
    const token = new (sdk().AccessToken)(key, secret, { identity: participantId, ttl: TOKEN_SECONDS });
    token.addGrant({ room, roomJoin: true, canSubscribe: true, canPublish, canPublishData });
    return { token: await token.toJwt(), expiresAt: new Date(Date.now() + TOKEN_SECONDS * 1000) };
  }

  async listParticipants(room: string): Promise<VendorParticipant[]> {
    const all = await this.#rooms.listParticipants(room).catch(error => (isMissing(error) ? [] : Promise.reject(error)));
    return all.map(({ identity, sid, permission }) => ({ participantId: identity, sid, canPublish: permission?.canPublish ?? null }));
  }

  async removeParticipant(room: string, participantId: string): Promise<void> {
    await this.#rooms.removeParticipant(room, participantId).catch(error => (isMissing(error) ? undefined : Promise.reject(error)));
  }

  async setPermissions(room: string, participantId: string, canPublish: boolean): Promise<void> {
    const permission = { canPublish, canSubscribe: true, canPublishData: canPublish };
    await this.#rooms
      .updateParticipant(room, participantId, { permission })
      .catch(error => (isMissing(error) ? undefined : Promise.reject(error)));
  }

  async startRecording(): Promise<void> {}
  async stopRecording(): Promise<void> {}

  playbackUrl(): null {
    return null;
  }

  async verifyWebhook(raw: Buffer, header: HeaderReader): Promise<VendorEvent | null> {
    const jwt = (header('authorization') ?? '').replace(/^Bearer /i, '');
    const text = raw.toString('utf8');
    const event = jwt === '' ? null : await this.#received(text, jwt);
    return event && eventOf(event);
  }

  /** During a rotation several pairs are valid. */
  async #received(text: string, jwt: string): Promise<WebhookEvent | null> {
    for (const receiver of this.#receivers) {
      const event = await receiver.receive(text, jwt, false, TOLERANCE_SECONDS).catch(() => null);
      if (event) return event;
    }
    return null;
  }
}

function eventOf(event: WebhookEvent): VendorEvent {
  if (!event.id) fail('invalid_request', 'The body is not a report');
  return {
    id: event.id,
    type: TYPES[event.event] ?? 'other',
    room: event.room?.name ?? event.egressInfo?.roomName ?? event.ingressInfo?.roomName ?? null,
    participantId: event.participant?.identity ?? null,
    sid: event.participant?.sid ?? null,
    canPublish: event.participant?.permission?.canPublish ?? null,
    egress: egressOf(event),
  };
}
