import { createHmac } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { sameSecret } from '../../../runtime/data/crypto.js';
import { newId } from '../../../runtime/data/ids.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
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
import type { StreamingSettings } from './settings.js';

const ISSUER = 'embedded';
const TOLERANCE_SECONDS = 300;
/** Reports follow what they report, ms. */
const REPORT_MS = 50;
const PLAYBACK_SECONDS = 600;
/** A report that cannot be delivered is given up after this time, ms; reconciliation finds what it told. */
const DELIVERY_MS = 5_000;

/** How reports are disordered, for tests. */
export interface Disorder {
  hold?: boolean;
  duplicate?: number;
  reverse?: boolean;
}

type Report = Omit<VendorEvent, 'id'>;

const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');

/** `t=<unix>,v1=<hex>` of a body; any of several `v1`. */
export const signatureOf = (secret: string, at: number, raw: string): string => `t=${at},v1=${hmac(secret, `${at}.${raw}`)}`;

function isSigned(secrets: readonly string[], header: string | null, raw: Buffer): boolean {
  const parts = (header ?? '').split(',').map(part => part.split('=') as [string, string]);
  const at = Number(parts.find(([name]) => name === 't')?.[1]);
  if (!Number.isInteger(at) || Math.abs(Date.now() / 1000 - at) > TOLERANCE_SECONDS) return false;
  const given = parts.filter(([name]) => name === 'v1').map(([, value]) => value);
  return secrets.some(secret => given.some(value => sameSecret(value, hmac(secret, `${at}.${raw.toString('utf8')}`))));
}

function parsed(raw: Buffer): VendorEvent {
  try {
    const { id, type, room = null, participantId = null, sid = null, canPublish = null, egress = null } = JSON.parse(raw.toString('utf8'));
    if (typeof id === 'string' && typeof type === 'string')
      return { id, type: type as VendorEvent['type'], room, participantId, sid, canPublish, egress };
  } catch {
    // falls through to the refusal
  }
  return fail('invalid_request', 'The body is not a report');
}

/** Rooms without media, in this service's tables: the default, for development and tests. Source: live 4.9. */
export class EmbeddedProvider implements StreamingProvider {
  readonly name = 'embedded';
  readonly #key: Uint8Array;
  #held: Report[] = [];

  constructor(
    private readonly host: ServiceHost,
    private readonly settings: StreamingSettings,
  ) {
    this.#key = Buffer.from(settings.tokenSecret);
  }

  get url(): string {
    return `${this.host.config.baseUrl}/live/embedded-streaming`;
  }

  async createRoom(): Promise<void> {}

  async closeRoom(room: string): Promise<void> {
    await this.host.transaction(ctx => ctx.sql('delete from live.streaming_connection where room = $1', [room]));
    this.report({ type: 'room_finished', room, participantId: null, sid: null, egress: null });
  }

  async issueJoinToken({ room, participantId, canPublish, canPublishData }: JoinGrant): Promise<JoinToken> {
    const now = Math.floor(Date.now() / 1000);
    const video = { room, roomJoin: true, canPublish, canSubscribe: true, canPublishData };
    const token = await new SignJWT({ video })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(ISSUER)
      .setSubject(participantId)
      .setNotBefore(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .sign(this.#key);
    return { token, expiresAt: new Date((now + TOKEN_SECONDS) * 1000) };
  }

  /** What a token lets in; null: it is bad or expired. */
  async readToken(token: string): Promise<{ room: string; participantId: string; canPublish: boolean } | null> {
    const verified = await jwtVerify<{ video: { room: string; canPublish: boolean } }>(token, this.#key, {
      algorithms: ['HS256'],
      issuer: ISSUER,
    }).catch(() => null);
    if (!verified) return null;
    const { sub, video } = verified.payload;
    return { room: video.room, participantId: sub!, canPublish: video.canPublish };
  }

  async listParticipants(room: string): Promise<VendorParticipant[]> {
    const text = `select participant_id as "participantId", sid, can_publish as "canPublish" from live.streaming_connection where room = $1 order by joined_at`;
    return this.host.read(ctx => ctx.sql(text, [room]));
  }

  async removeParticipant(room: string, participantId: string): Promise<void> {
    const text = 'delete from live.streaming_connection where room = $1 and participant_id = $2 returning sid';
    const gone = await this.host.transaction(ctx => ctx.sql<{ sid: string }>(text, [room, participantId]));
    for (const { sid } of gone) this.report({ type: 'participant_left', room, participantId, sid, egress: null });
  }

  async setPermissions(room: string, participantId: string, canPublish: boolean): Promise<void> {
    const text = 'update live.streaming_connection set can_publish = $3 where room = $1 and participant_id = $2';
    await this.host.transaction(ctx => ctx.sql(text, [room, participantId, canPublish]));
  }

  async startRecording(): Promise<void> {}
  async stopRecording(): Promise<void> {}

  playbackUrl(room: string, recording: string | null): string {
    const end = Math.floor(Date.now() / 1000) + PLAYBACK_SECONDS;
    const path = `${room}${recording ? `/${recording}` : ''}.m3u8`;
    return `${this.url}/playback/${path}?expires=${end}&signature=${hmac(this.settings.tokenSecret, `${path}.${end}`)}`;
  }

  async verifyWebhook(raw: Buffer, header: HeaderReader): Promise<VendorEvent | null> {
    return isSigned(this.settings.webhookSecrets, header('x-streaming-signature'), raw) ? parsed(raw) : null;
  }

  /** Calls the webhook as a vendor would: over HTTP, signed, a little later. Held reports go out with the next that is not. */
  report(report: Report, { hold = false, duplicate = 1, reverse = false }: Disorder = {}): void {
    this.#held.push(report);
    if (hold) return;
    const all = reverse ? this.#held.splice(0).reverse() : this.#held.splice(0);
    setTimeout(() => void this.#send(all, duplicate), REPORT_MS).unref();
  }

  async #send(reports: readonly Report[], times: number): Promise<void> {
    for (const report of reports) {
      const raw = JSON.stringify({ ...report, id: newId() });
      for (let n = 0; n < times; n++) await this.#call(raw).catch(() => this.host.log.warn('a report of the embedded provider was lost'));
    }
  }

  async #call(raw: string): Promise<void> {
    const signature = signatureOf(this.settings.webhookSecrets[0]!, Math.floor(Date.now() / 1000), raw);
    await fetch(`${this.host.config.baseUrl}/live/webhooks/streaming`, {
      method: 'POST',
      body: raw,
      headers: { 'content-type': 'application/json', 'x-streaming-signature': signature },
      signal: AbortSignal.timeout(DELIVERY_MS),
    });
  }
}
