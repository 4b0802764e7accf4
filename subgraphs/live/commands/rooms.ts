import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { LiveRole, type LiveSessionKind } from '../entities/enums.js';
import { RoomWanted, StreamingRoom } from '../entities/room.js';
import type { LiveSession } from '../entities/session.js';
import type { VendorParticipant } from '../ports/provider.js';
import { providerOf } from '../ports/providers.js';
import { newParticipantId } from '../rules/participant.js';
import { maySpeak } from '../rules/session.js';

/** The vendor is to have a room, or to have it no more; told after the commit, and again until it knows. Source: live 7.10. */
export async function wantRoom(
  ctx: Context,
  name: string,
  about: { subjectId: string; isCall: boolean },
  wanted: RoomWanted,
): Promise<void> {
  const before = await ctx.em.findOne(StreamingRoom, { name });
  if (!before && wanted === RoomWanted.CLOSED) return;
  const room = before ?? Object.assign(new StreamingRoom(), { name, ...about });
  Object.assign(room, { wanted, attempts: 0, dueAt: new Date() }); // the vendor is not moved by our manual clock
  ctx.em.persist(room);
  ctx.afterCommit(() => void settleRoom(ctx.host, name));
}

/** A claim outlives its process by so much; further attempts follow at growing distances, s. */
const CLAIM = `
update live.streaming_room set attempts = attempts + 1, due_at = clock_timestamp() + least(300, 15 * power(2, attempts)) * interval '1 second'
where name = $1 and due_at <= clock_timestamp() + interval '1 second' returning wanted`;
const SETTLED = `
update live.streaming_room set due_at = null, made_at = case when wanted = 'open' then clock_timestamp() else made_at end,
  closed_at = case when wanted = 'closed' then clock_timestamp() end where name = $1 and wanted = $2`;

/** Tells the vendor of one room, if nobody else does. */
export async function settleRoom(host: ServiceHost, name: string): Promise<void> {
  try {
    const [claimed] = await host.transaction(ctx => ctx.sql<{ wanted: RoomWanted }>(CLAIM, [name]));
    if (!claimed) return;
    const provider = providerOf(host);
    await (claimed.wanted === RoomWanted.OPEN ? provider.createRoom(name) : provider.closeRoom(name));
    await host.transaction(ctx => ctx.sql(SETTLED, [name, claimed.wanted]));
  } catch (error) {
    host.log.warn({ err: loggedError(error) }, 'the streaming vendor was not told of a room; it will be');
  }
}

const DUE = 'select name from live.streaming_room where due_at <= clock_timestamp() order by due_at limit 20';

/** Rooms of which the vendor was not told. */
export async function settleDueRooms(host: ServiceHost): Promise<void> {
  const due = await host.read(ctx => ctx.sql<{ name: string }>(DUE));
  for (const { name } of due) await settleRoom(host, name);
}

const INSERT = `insert into live.live_participant (id, subject_id, user_id, role) values ($1, $2, $3, $4)
  on conflict (subject_id, user_id) do update set role = $4 returning id`;

/** The pseudonym of a user in a session or call, made at the first need; its role is that of now. */
export async function participantOf(ctx: Context, subjectId: string, userId: string, role: LiveRole): Promise<string> {
  const [row] = await ctx.sql<{ id: string }>(INSERT, [newParticipantId(), subjectId, userId, role]);
  return row!.id;
}

const NAMED = `insert into live.live_participant (id, subject_id, user_id, role) values ($1, $2, $3, $4)
  on conflict (subject_id, user_id) do update set role = live_participant.role returning id`;

/** The same without a role, for what is not the room. */
export async function pseudonymOf(ctx: Context, subjectId: string, userId: string): Promise<string> {
  const [row] = await ctx.sql<{ id: string }>(NAMED, [newParticipantId(), subjectId, userId, LiveRole.VIEWER]);
  return row!.id;
}

/** Whether a removal stands. */
export async function isKicked(ctx: Context, subjectId: string, participantId: string): Promise<boolean> {
  const text = 'select 1 from live.live_kick where subject_id = $1 and participant_id = $2 and (until is null or until > $3)';
  return (await ctx.sql(text, [subjectId, participantId, ctx.now().toISOString()])).length > 0;
}

/** Which of these participants are not to be in the room. */
export async function kickedAmong(ctx: Context, subjectId: string, participantIds: readonly string[]): Promise<string[]> {
  const text =
    'select participant_id as id from live.live_kick where subject_id = $1 and participant_id = any($2) and (until is null or until > $3)';
  const rows = await ctx.sql<{ id: string }>(text, [subjectId, participantIds, ctx.now().toISOString()]);
  return rows.map(({ id }) => id);
}

/** The room that is open for a session or call; null for none. */
export const openRoom = (ctx: Context, subjectId: string): Promise<StreamingRoom | null> =>
  ctx.em.findOne(StreamingRoom, { subjectId, wanted: RoomWanted.OPEN });

/** Removes somebody from a room after the commit; reconciliation repeats what failed. */
export function expel(ctx: Context, room: string, participantId: string): void {
  ctx.afterCommit(() => {
    void providerOf(ctx.host)
      .removeParticipant(room, participantId)
      .catch(error => ctx.log.warn({ err: loggedError(error) }, 'a participant was not removed; reconciliation will'));
  });
}

const ROLES = `select p.id, p.role, s.kind from live.live_participant p join live.live_session s on s.id = p.subject_id
  where p.subject_id = $1 and p.id = any($2)`;

interface Place {
  room: string;
  subjectId: string;
}

/** Who of these may speak in a session's room, by the roles of now; calls have no such rights, everybody speaks there. */
async function rightsOf(ctx: Context, subjectId: string, participantIds: readonly string[]): Promise<Map<string, boolean>> {
  const rows = await ctx.sql<{ id: string; role: LiveRole; kind: LiveSessionKind }>(ROLES, [subjectId, participantIds]);
  return new Map(rows.map(({ id, role, kind }) => [id, maySpeak(role, kind)]));
}

/**
 * Tells the vendor whether somebody may speak, by the role of now, and again if the role has changed meanwhile: of two who tell at once
 * either may arrive last, and whoever does finds out.
 */
async function tellRight(host: ServiceHost, { room, subjectId }: Place, participantId: string): Promise<void> {
  const right = async () => (await host.read(ctx => rightsOf(ctx, subjectId, [participantId]))).get(participantId);
  let told: boolean | undefined;
  for (let may = await right(); may !== undefined && may !== told; may = await right()) {
    await providerOf(host).setPermissions(room, participantId, may);
    told = may;
  }
}

/** Lets somebody in a room speak, or no more, after the commit; reconciliation repeats what failed. */
function permit(ctx: Context, place: Place, participantId: string): void {
  ctx.afterCommit(() => {
    void tellRight(ctx.host, place, participantId).catch(error =>
      ctx.log.warn({ err: loggedError(error) }, 'the vendor did not take a role; reconciliation will tell it'),
    );
  });
}

const ROLE = 'update live.live_participant set role = $3 where subject_id = $1 and user_id = $2 returning id';

/** Somebody's role in the room of now, which the vendor is told of; nothing of one who was never there. */
export async function setRoomRole(ctx: Context, { id }: LiveSession, userId: string, role: LiveRole): Promise<void> {
  const [participant] = await ctx.sql<{ id: string }>(ROLE, [id, userId, role]);
  const room = participant && (await openRoom(ctx, id));
  if (room) permit(ctx, { room: room.name, subjectId: id }, participant.id);
}

/**
 * Sets right what the vendor lets people in a session's room do: a token outlives the role that it was made for, and connects as often as
 * it likes until its end. In calls everybody speaks.
 */
export async function setRights(ctx: Context, place: Place, there: readonly Omit<VendorParticipant, 'sid'>[]): Promise<void> {
  const said = there.filter(({ canPublish }) => canPublish !== null);
  if (said.length === 0) return;
  const ids = said.map(({ participantId }) => participantId);
  const may = await rightsOf(ctx, place.subjectId, ids);
  const wrong = said.filter(one => may.has(one.participantId) && may.get(one.participantId) !== one.canPublish);
  for (const id of new Set(wrong.map(({ participantId }) => participantId))) permit(ctx, place, id);
}

/** Stores a removal and carries it out: no new token, and out of the room as often as an old one lets them in. Source: live 7.6. */
export async function kick(
  ctx: Context,
  subjectId: string,
  participantId: string,
  { reasonCode, until }: { reasonCode: string; until: Date | null },
): Promise<void> {
  const text = `insert into live.live_kick (subject_id, participant_id, reason_code, until, at) values ($1, $2, $3, $4, $5)
    on conflict (subject_id, participant_id) do update set reason_code = excluded.reason_code, until = excluded.until, at = excluded.at`;
  await ctx.sql(text, [subjectId, participantId, reasonCode, until?.toISOString() ?? null, ctx.now().toISOString()]);
  const room = await openRoom(ctx, subjectId);
  if (room) expel(ctx, room.name, participantId);
}

const PSEUDONYM = 'select id from live.live_participant where subject_id = $1 and user_id = $2';

/** The same for a user; of one who was never given a token the vendor knows nothing. */
export async function kickUser(ctx: Context, subjectId: string, userId: string, reasonCode: string): Promise<void> {
  const [participant] = await ctx.sql<{ id: string }>(PSEUDONYM, [subjectId, userId]);
  if (participant) await kick(ctx, subjectId, participant.id, { reasonCode, until: null });
}

const READMIT = `delete from live.live_kick where subject_id = $1 and participant_id in (${PSEUDONYM})`;

/** Takes a removal back. */
export const readmitUser = (ctx: Context, subjectId: string, userId: string): Promise<unknown> => ctx.sql(READMIT, [subjectId, userId]);
