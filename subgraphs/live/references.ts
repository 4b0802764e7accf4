import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { READERS } from './entities/access.js';
import { LiveRecording } from './entities/recording.js';
import { LiveRegistration } from './entities/registration.js';
import { visibleCall } from './queries/call.js';
import { isOffice, visibleSession } from './queries/people.js';
import { foundQuestion } from './queries/question.js';
import { accessOf } from './queries/session.js';

type Find = (ctx: Context, id: string) => Promise<object | null>;

/** Each by the same rule as the query; what is asked for at once is few. */
const found =
  (find: Find): ReferenceLoader =>
  async (ctx, references: readonly { id: string }[]) => {
    if (!mayAccess(ruleOf(READERS), ctx.caller)) return references.map(() => null);
    return Promise.all(references.map(({ id }) => find(ctx, id)));
  };

/** To whoever may watch its session. */
const recordings: ReferenceLoader = async (ctx, references: readonly { id: string }[]) => {
  const rows = await rowReferences(LiveRecording, { readers: READERS })(ctx, references);
  const shown = async (row: LiveRecording | null): Promise<LiveRecording | null> => {
    if (row === null) return null;
    const session = await visibleSession(ctx, row.sessionId);
    return session && (await accessOf(ctx, session)).allowed ? row : null;
  };
  return Promise.all(rows.map(row => shown(row as LiveRecording | null)));
};

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  LiveSession: found(visibleSession),
  LiveQuestion: found(foundQuestion),
  LiveCall: found(visibleCall),
  LiveRegistration: rowReferences(LiveRegistration, {
    readers: READERS,
    where: ctx => (isOffice(ctx, 'read') ? {} : { userId: ctx.caller.userId! }),
  }),
  LiveRecording: recordings,
  User: stubReferences,
  Brand: stubReferences,
  MembershipTier: stubReferences,
};
