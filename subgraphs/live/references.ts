import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { READERS } from './entities/access.js';
import { LiveRecording } from './entities/recording.js';
import { LiveRegistration } from './entities/registration.js';
import { visibleCalls } from './queries/call.js';
import { isOffice, visibleSessions } from './queries/people.js';
import { foundQuestions } from './queries/question.js';
import { accessOf } from './queries/session.js';

/** By the same rule as the query. */
const found =
  (find: (ctx: Context, ids: readonly string[]) => Promise<readonly (object | null)[]>): ReferenceLoader =>
  async (ctx, references: readonly { id: string }[]) => {
    if (!mayAccess(ruleOf(READERS), ctx.caller)) return references.map(() => null);
    const ids = references.map(({ id }) => id);
    return find(ctx, ids);
  };

/** To whoever may watch its session. */
const recordings: ReferenceLoader = async (ctx, references: readonly { id: string }[]) => {
  const rows = (await rowReferences(LiveRecording, { readers: READERS })(ctx, references)) as (LiveRecording | null)[];
  const visible = await visibleSessions(ctx, [...new Set(rows.flatMap(row => row?.sessionId ?? []))]);
  const open = await Promise.all(visible.map(async session => session && (await accessOf(ctx, session)).allowed && session.id));
  return rows.map(row => (row && open.includes(row.sessionId) ? row : null));
};

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  LiveSession: found(visibleSessions),
  LiveQuestion: found(foundQuestions),
  LiveCall: found(visibleCalls),
  LiveRegistration: rowReferences(LiveRegistration, {
    readers: READERS,
    where: ctx => (isOffice(ctx, 'read') ? {} : { userId: ctx.caller.userId! }),
  }),
  LiveRecording: recordings,
  User: stubReferences,
  Brand: stubReferences,
  MembershipTier: stubReferences,
};
