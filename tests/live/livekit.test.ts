import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LivekitProvider } from '../../subgraphs/live/ports/livekit.js';
import { RoomService, type Trouble } from './room-service.js';

const [KEY, SECRET] = ['key', 's'.repeat(32)];
const ROOM = 'ls_x_1';

let rooms: RoomService;
let provider: LivekitProvider;
beforeAll(async () => {
  rooms = await RoomService.start(KEY, SECRET);
  provider = new LivekitProvider(rooms.url, [[KEY, SECRET]]);
});
afterAll(() => rooms.stop());
beforeEach(() => {
  rooms.rooms.clear();
  rooms.asked.length = 0;
});

const enter = (...identities: string[]): void => {
  rooms.rooms.set(
    ROOM,
    identities.map(identity => ({ identity, sid: `PA_${identity}`, permission: { canPublish: true } })),
  );
};

test('a room is made once however often it is asked for, and closing one that is not there does no harm', async () => {
  await provider.createRoom(ROOM);
  enter('p_1');
  await provider.createRoom(ROOM);
  expect(rooms.rooms.get(ROOM)).toHaveLength(1);
  await provider.closeRoom(ROOM);
  await provider.closeRoom(ROOM);
  expect(rooms.rooms.size).toBe(0);
  expect(rooms.asked).toEqual(['CreateRoom', 'CreateRoom', 'DeleteRoom', 'DeleteRoom']);
});

test('participants are told by their pseudonyms; who is removed is gone, and nobody is in a room that is not there', async () => {
  enter('p_1', 'p_2');
  expect(await provider.listParticipants(ROOM)).toEqual([
    { participantId: 'p_1', sid: 'PA_p_1', canPublish: true },
    { participantId: 'p_2', sid: 'PA_p_2', canPublish: true },
  ]);
  await provider.removeParticipant(ROOM, 'p_1');
  await provider.removeParticipant(ROOM, 'p_1');
  expect((await provider.listParticipants(ROOM)).map(({ participantId }) => participantId)).toEqual(['p_2']);
  expect(await provider.listParticipants('ls_y_1')).toEqual([]);
});

test('who loses the right to speak still listens, and one who has left is no failure', async () => {
  enter('p_1');
  await provider.setPermissions(ROOM, 'p_1', false);
  expect(rooms.rooms.get(ROOM)![0]!.permission).toEqual({ canPublish: false, canSubscribe: true, canPublishData: false });
  await provider.setPermissions(ROOM, 'p_1', true);
  expect(rooms.rooms.get(ROOM)![0]!.permission).toMatchObject({ canPublish: true, canSubscribe: true });
  await provider.setPermissions(ROOM, 'p_9', false);
});

test('another secret opens nothing', async () => {
  enter('p_1');
  const forged = new LivekitProvider(rooms.url, [[KEY, 'x'.repeat(32)]]);
  await expect(forged.removeParticipant(ROOM, 'p_1')).rejects.toMatchObject({ status: 401 });
  expect(rooms.rooms.get(ROOM)).toHaveLength(1);
});

describe.each([429, 500, 503, 'silence'] satisfies Trouble[])('while the vendor answers with %s', trouble => {
  test('every call fails, so that it is tried again, and the next one succeeds', async () => {
    enter('p_1');
    const calls = [
      () => provider.createRoom(ROOM),
      () => provider.closeRoom(ROOM),
      () => provider.listParticipants(ROOM),
      () => provider.removeParticipant(ROOM, 'p_1'),
      () => provider.setPermissions(ROOM, 'p_1', false),
    ];
    rooms.troubles.push(...calls.map(() => trouble));
    const answers = await Promise.allSettled(calls.map(call => call()));
    expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    expect(rooms.asked).toEqual([]);
    expect(await provider.listParticipants(ROOM)).toMatchObject([{ participantId: 'p_1', canPublish: true }]);
  }, 20_000);
});
