import { randomInt } from 'node:crypto';
import { LiveHostRole, LiveRole } from '../entities/enums.js';

const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A pseudonym of 131 bits: it says nothing of the user and is met nowhere else. Source: live 2. */
export const newParticipantId = (): string => `p_${Array.from({ length: 22 }, () => BASE62[randomInt(62)]).join('')}`;

/** What a member of the host team is in the room. */
export const ROOM_ROLES: Readonly<Record<LiveHostRole, LiveRole>> = {
  [LiveHostRole.HOST]: LiveRole.HOST,
  [LiveHostRole.CO_HOST]: LiveRole.CO_HOST,
  [LiveHostRole.SPEAKER]: LiveRole.SPEAKER,
  [LiveHostRole.MODERATOR]: LiveRole.MODERATOR,
};

/** Names that are never used again, so that old tokens open nothing. Source: live 7.7. */
export const sessionRoom = (sessionId: string, epoch: number): string => `ls_${sessionId}_${epoch}`;
export const callRoom = (callId: string): string => `lc_${callId}`;

/** What a room's name says; null: none of ours. */
export function roomOf(name: string): { subjectId: string; epoch: number | null } | null {
  const [, session, epoch, call] = /^(?:ls_([0-9a-f-]{36})_(\d+)|lc_([0-9a-f-]{36}))$/.exec(name) ?? [];
  if (session) return { subjectId: session, epoch: Number(epoch) };
  return call ? { subjectId: call, epoch: null } : null;
}

/** Name that others in the room see. Source: live 2. */
export const displayNameOf = (profile: { displayName: string | null; visibility: string } | null): string =>
  profile === null || profile.visibility === 'PRIVATE' ? 'Guest' : (profile.displayName ?? 'Guest');
