import { liveRecordingReady, liveStreamEvent, streamingSessionEnded } from '../../../events/catalogue/live.js';
import { newId } from '../../../runtime/data/ids.js';
import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { LiveCall } from '../entities/call.js';
import { LiveCallStatus, LiveRecordingStatus, LiveSessionStatus } from '../entities/enums.js';
import { LiveRecording } from '../entities/recording.js';
import { LiveSession } from '../entities/session.js';
import type { VendorEvent } from '../ports/provider.js';
import { teamOf } from '../queries/people.js';
import { roomOf } from '../rules/participant.js';
import { sessionFeed } from './feeds.js';
import { expel, isKicked, setRights } from './rooms.js';
import { tickAfter } from './ticker.js';

const KINDS: Readonly<
  Record<VendorEvent['type'], 'connected' | 'disconnected' | 'recording_started' | 'recording_stopped' | 'error' | 'idle' | null>
> = {
  room_started: 'connected',
  room_finished: 'disconnected',
  participant_joined: null,
  participant_left: null,
  egress_started: 'recording_started',
  egress_ended: 'recording_stopped',
  ingress_started: 'connected',
  ingress_ended: 'disconnected',
  error: 'error',
  other: null,
};

const RECEIPT = 'insert into live.streaming_receipt (event_id, type, received_at) values ($1, $2, $3) on conflict do nothing returning 1';

/** Takes a report of the vendor, once; whatever it says is a hint. Source: live 7.9. */
export async function takeReport(ctx: Context, event: VendorEvent): Promise<void> {
  if ((await ctx.sql(RECEIPT, [event.id, event.type, ctx.now().toISOString()])).length === 0) return;
  const room = event.room === null ? null : roomOf(event.room);
  if (room === null) return; // none of ours
  const session = room.epoch === null ? null : await ctx.em.findOne(LiveSession, { id: room.subjectId });
  if (session) await normalised(ctx, session, event);
  const { room: name, participantId, sid, canPublish = null } = event;
  if (event.type === 'participant_joined' && participantId && sid)
    await joined(ctx, { room: name!, subjectId: room.subjectId, participantId, sid, canPublish });
  if (event.type === 'participant_left' && sid) await left(ctx, { room: name!, subjectId: room.subjectId, sid });
  if (session && event.egress) await recorded(ctx, session, event.egress);
  if (session && event.type === 'room_finished' && room.epoch === session.roomEpoch) await finished(ctx, session, event.room!);
}

async function normalised(ctx: Context, session: LiveSession, { id, type }: VendorEvent): Promise<void> {
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : null; // a vendor may send what nobody has heard of
  if (kind === null) return;
  const [host] = await teamOf(ctx, session.id);
  const data = { session_id: session.id, vendor_event_id: id, kind, at: ctx.now().toISOString() };
  ctx.emit(liveStreamEvent, data, { userId: host?.userId ?? null, brandId: session.brandId });
}

/** A room that is over, as an event that ends the session: the vendor has no other way to. */
async function finished(ctx: Context, session: LiveSession, room: string): Promise<void> {
  if (session.status !== LiveSessionStatus.LIVE) return;
  const [host] = await teamOf(ctx, session.id);
  const seconds = Math.max(0, Math.round((ctx.now().getTime() - session.startedAt!.getTime()) / 1000));
  const data = {
    session_id: session.id,
    vendor_session_ref: room,
    ended_at: ctx.now().toISOString(),
    duration_s: seconds,
    peak_viewers: session.peakViewers,
  };
  ctx.emit(streamingSessionEnded, data, { userId: host?.userId ?? null, brandId: session.brandId });
}

interface Arrival {
  room: string;
  subjectId: string;
  participantId: string;
  sid: string;
  canPublish: boolean | null;
}

const JOIN = `insert into live.live_attendance (room, sid, subject_id, participant_id, joined_at) values ($1, $2, $3, $4, $5) on conflict do nothing returning 1`;

/** Somebody is in the room, by one connection. Who was removed is removed again, as often as an old token lets them in; nor does one let them speak. */
export async function joined(ctx: Context, { room, subjectId, participantId, sid, canPublish }: Arrival): Promise<void> {
  if (await isKicked(ctx, subjectId, participantId)) return expel(ctx, room, participantId);
  await setRights(ctx, { room, subjectId }, [{ participantId, canPublish }]);
  await ctx.sql(JOIN, [room, sid, subjectId, participantId, ctx.now().toISOString()]);
  await present(ctx, subjectId);
}

/** One connection is closed; a `left` that comes before or without its `joined` closes nothing else. */
export async function left(ctx: Context, { room, subjectId, sid }: Omit<Arrival, 'participantId' | 'canPublish'>): Promise<void> {
  const text =
    'update live.live_attendance set left_at = greatest(joined_at, $3::timestamptz) where room = $1 and sid = $2 and left_at is null';
  await ctx.sql(text, [room, sid, ctx.now().toISOString()]);
  await present(ctx, subjectId);
}

/** Counts anew who is there, for a session's viewers or a call's state. */
export async function present(ctx: Context, subjectId: string): Promise<void> {
  const call = await ctx.em.findOne(LiveCall, { id: subjectId }, FOR_UPDATE);
  if (call) await presentInCall(ctx, call);
  else await countViewers(ctx, subjectId);
}

const VIEWERS = `
with viewers as (
  select p.user_id from live.live_attendance a join live.live_participant p on p.id = a.participant_id where a.subject_id = $1 and a.left_at is null
  union select user_id from live.live_presence where session_id = $1 and seen_at > clock_timestamp() - interval '30 seconds'
), hosts as (
  select exists (select 1 from live.live_attendance a join live.live_participant p on p.id = a.participant_id
    join live.live_session_host h on h.session_id = $1 and h.user_id = p.user_id where a.subject_id = $1 and a.left_at is null) as here
), counted as (select count(*)::int as n from viewers)
update live.live_session s set viewers_now = counted.n, peak_viewers = greatest(s.peak_viewers, counted.n),
  counts_dirty = counts_dirty or s.viewers_now <> counted.n,
  host_absent_since = case when hosts.here then null else coalesce(s.host_absent_since, $2::timestamptz) end
from counted, hosts where s.id = $1 and s.status in ('scheduled', 'live')
  and (s.viewers_now <> counted.n or hosts.here is distinct from (s.host_absent_since is null)) returning 1`;

/**
 * Distinct users with a connection to the room, or a stream that was open in the last 30 s. Counted under the session's lock: of two who come
 * at once each would else count without the other.
 */
export async function countViewers(ctx: Context, sessionId: string): Promise<void> {
  await ctx.sql('select from live.live_session where id = $1 for no key update', [sessionId]);
  if ((await ctx.sql(VIEWERS, [sessionId, ctx.now().toISOString()])).length > 0) tickAfter(ctx, sessionId);
}

const IN_CALL = `
update live.live_call_participant c set state = case when i.here then 'joined' else case when c.state = 'joined' then 'left' else c.state end end,
  joined_at = case when i.here then coalesce(c.joined_at, $2::timestamptz) else c.joined_at end,
  left_at = case when i.here then null when c.state = 'joined' then $2::timestamptz else c.left_at end
from (select c2.user_id, exists (select 1 from live.live_attendance a join live.live_participant p on p.id = a.participant_id
    where a.subject_id = $1 and a.left_at is null and p.user_id = c2.user_id) as here from live.live_call_participant c2 where c2.call_id = $1) i
where c.call_id = $1 and c.user_id = i.user_id and c.state <> 'removed' returning i.here`;

/** The first arrival makes a call active; from two down to one or none its end draws near. */
async function presentInCall(ctx: Context, call: LiveCall): Promise<void> {
  const rows = await ctx.sql<{ here: boolean }>(IN_CALL, [call.id, ctx.now().toISOString()]);
  const count = rows.filter(({ here }) => here).length;
  if (call.status === LiveCallStatus.CREATED && count > 0) Object.assign(call, { status: LiveCallStatus.ACTIVE, startedAt: ctx.now() });
  if (call.status !== LiveCallStatus.ACTIVE) return;
  if (count >= 2) call.hadTwo = true;
  call.aloneSince = count === 1 && call.hadTwo ? (call.aloneSince ?? ctx.now()) : null;
  call.emptySince = count === 0 ? (call.emptySince ?? ctx.now()) : null;
}

const KEPT_DAYS = 90;
const RECORDING = `insert into live.live_recording (id, session_id, vendor_ref, status, created_at) values ($1, $2, $3, 'processing', $4) on conflict do nothing`;

/** A recording is known by the vendor's reports; those of calls are none, because calls are never recorded. */
async function recorded(ctx: Context, session: LiveSession, egress: NonNullable<VendorEvent['egress']>): Promise<void> {
  await ctx.sql(RECORDING, [newId(), session.id, egress.ref, ctx.now().toISOString()]); // reports of begin and end may come at once
  const recording = await ctx.em.findOneOrFail(LiveRecording, { vendorRef: egress.ref }, { ...FOR_UPDATE, refresh: true });
  const isOver = egress.durationSeconds !== null || egress.failed;
  if (!isOver || recording.status !== LiveRecordingStatus.PROCESSING) return;
  if (egress.failed) recording.status = LiveRecordingStatus.FAILED;
  else await ready(ctx, session, Object.assign(recording, { durationSeconds: egress.durationSeconds, sizeBytes: egress.sizeBytes }));
  await ctx.em.flush();
  const { id, status, durationSeconds } = recording;
  await sessionFeed.append(ctx, session.id, [{ type: 'recording', payload: { id, status, duration_seconds: durationSeconds } }]);
  if (session.status === LiveSessionStatus.ENDED) await sessionFeed.end(ctx, session.id);
}

async function ready(ctx: Context, session: LiveSession, recording: LiveRecording): Promise<void> {
  const now = ctx.now();
  Object.assign(recording, { status: LiveRecordingStatus.READY, readyAt: now, expiresAt: new Date(now.getTime() + KEPT_DAYS * DAY_MS) });
  const [host] = await teamOf(ctx, session.id);
  const data = {
    session_id: session.id,
    recording_id: recording.id,
    duration_s: recording.durationSeconds ?? 0,
    ready_at: now.toISOString(),
  };
  ctx.emit(liveRecordingReady, data, { userId: host?.userId ?? null, brandId: session.brandId });
}
