import { loggedError } from '../../../runtime/observe/log.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { providerOf } from '../ports/providers.js';
import { expel, kickedAmong, setRights } from './rooms.js';
import { countViewers, joined, left } from './vendor.js';

const EVERY_SECONDS = 60;

/** Rooms are looked at by one process each minute; the row's `made_at` moves as the mark of it. */
const CLAIM = `
update live.streaming_room set made_at = clock_timestamp() where name in (
  select name from live.streaming_room where wanted = 'open' and made_at < clock_timestamp() - $1::int * interval '1 second' and due_at is null
  order by made_at limit 20 for update skip locked
) returning name, subject_id as "subjectId"`;
const OPEN = 'select sid from live.live_attendance where room = $1 and left_at is null';

interface Room {
  name: string;
  subjectId: string;
}

/** What the vendor says now is the truth about who is there: missing ones are closed, unknown ones added, removed ones removed again, rights set right. */
export async function reconcileRoom(host: ServiceHost, { name: room, subjectId }: Room): Promise<void> {
  const there = await providerOf(host).listParticipants(room);
  const known = new Set((await host.read(ctx => ctx.sql<{ sid: string }>(OPEN, [room]))).map(({ sid }) => sid));
  const gone = [...known].filter(sid => !there.some(one => one.sid === sid));
  const fresh = there.filter(({ sid }) => !known.has(sid));
  for (const sid of gone) await host.transaction(ctx => left(ctx, { room, subjectId, sid }));
  for (const one of fresh) await host.transaction(ctx => joined(ctx, { room, subjectId, ...one }));
  const here = [...new Set(there.map(({ participantId }) => participantId))];
  await host.transaction(async ctx => {
    for (const id of await kickedAmong(ctx, subjectId, here)) expel(ctx, room, id); // a removal that failed is tried again, whoever was known
    await setRights(ctx, { room, subjectId }, there);
    await countViewers(ctx, subjectId);
  });
}

/** Every room that was not looked at for a minute. */
export async function reconcileRooms(host: ServiceHost, everySeconds = EVERY_SECONDS): Promise<void> {
  const rooms = await host.transaction(ctx => ctx.sql<Room>(CLAIM, [everySeconds]));
  for (const room of rooms)
    await reconcileRoom(host, room).catch(error => host.log.warn({ err: loggedError(error) }, 'the vendor did not say who is in a room'));
}
