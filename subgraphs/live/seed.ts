import type { Context } from '../../runtime/request/context.js';
import { DAY_MS, HOUR_MS } from '../../runtime/time/durations.js';
import { LiveCall, LiveCallParticipant } from './entities/call.js';
import { LiveCallKind, LiveCallRole, LiveHostRole, LiveQuestionStatus, LiveSessionKind, LiveSessionStatus } from './entities/enums.js';
import { LiveQuestion } from './entities/question.js';
import { LiveSession, LiveSessionHost } from './entities/session.js';
import { sealText } from './queries/texts.js';

const BRAND = '0190b3a0-0000-7000-8000-000000000001';
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
const ADMIN = '0190b3a0-0000-7000-8000-0000000000a9';

const id = (n: number): string => `0190b3a0-0000-7000-8000-0000001e${String(n).padStart(4, '0')}`;

/** Two sessions to try, hosted by the admin, one with a question that waits, and a call between two people. */
export async function seed(ctx: Context): Promise<void> {
  const now = ctx.now();
  const at = (ms: number): Date => new Date(now.getTime() + ms);
  const common = {
    brandId: BRAND,
    status: LiveSessionStatus.SCHEDULED,
    timeZone: 'America/New_York',
    createdBy: 'system:live',
    createdAt: now,
    updatedAt: now,
  };
  const sessions = [
    {
      id: id(1),
      kind: LiveSessionKind.BROADCAST,
      title: 'Ask the lab: ferritin',
      tags: ['labs'],
      startsAt: at(7 * DAY_MS),
      endsAt: at(7 * DAY_MS + HOUR_MS),
      capacity: 50,
    },
    {
      id: id(2),
      kind: LiveSessionKind.GROUP,
      title: 'Breathing together',
      tags: ['sleep'],
      startsAt: at(14 * DAY_MS),
      endsAt: at(14 * DAY_MS + HOUR_MS),
      capacity: 20,
    },
  ];
  const hosts = sessions.map(one => Object.assign(new LiveSessionHost(), { sessionId: one.id, userId: ADMIN, role: LiveHostRole.HOST }));
  await ctx.em.persist([...sessions.map(one => Object.assign(new LiveSession(), common, one)), ...hosts]).flush();
  const question = Object.assign(new LiveQuestion(), {
    id: id(11),
    sessionId: id(1),
    userId: ADMIN,
    anonymous: false,
    status: LiveQuestionStatus.PENDING,
    createdAt: now,
  });
  question.bodySealed = sealText(ctx, question.id, 'body', 'Which foods help?');
  const call = Object.assign(new LiveCall(), {
    id: id(21),
    kind: LiveCallKind.ONE_TO_ONE,
    opensAt: at(DAY_MS),
    closesAt: at(DAY_MS + HOUR_MS),
    createdBy: 'system:live',
    createdAt: now,
  });
  const people = [
    { callId: call.id, userId: ADMIN, role: LiveCallRole.HOST },
    { callId: call.id, userId: DEMO, role: LiveCallRole.GUEST },
  ];
  await ctx.em.persist([question, call, ...people.map(one => Object.assign(new LiveCallParticipant(), one))]).flush();
}
