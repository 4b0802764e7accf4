import type { Call } from '../../../runtime/data/together.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import type { LiveHostRole, LiveQuestionStatus, LiveRegistrationSource, LiveSessionStatus, LiveVisibility } from '../entities/enums.js';
import type { VoteLiveQuestionInput } from '../inputs/question.js';
import { isShown } from '../rules/question.js';
import { isFound, mayModerate } from '../rules/session.js';
import { blockedIn, byInvitation, isOffice, removal } from './people.js';

type Voting = Call<VoteLiveQuestionInput>;

/** What a user is to a question and its session. */
interface Voter {
  userId: string;
  question: LiveQuestionStatus;
  isOwn: boolean;
  sessionId: string;
  createdBy: string;
  status: LiveSessionStatus;
  visibility: LiveVisibility;
  hidden: boolean;
  role: LiveHostRole | null;
  source: LiveRegistrationSource | null;
  isRemoved: boolean;
}

const VOTERS = `select v.id as "userId", q.status as question, q.user_id is not distinct from v.id as "isOwn", s.id as "sessionId",
  s.created_by as "createdBy", s.status, s.visibility, s.hidden_at is not null as hidden, h.role, r.source,
  exists (select 1 from live.live_participant p join live.live_kick k on k.participant_id = p.id
    where p.subject_id = s.id and p.user_id = v.id and k.subject_id = s.id and (k.until is null or k.until > $3)) as "isRemoved"
  from live.live_question q join live.live_session s on s.id = q.session_id cross join unnest($2::uuid[]) v (id)
  left join live.live_session_host h on h.session_id = s.id and h.user_id = v.id
  left join live.live_registration r on r.session_id = s.id and r.user_id = v.id where q.id = $1`;

/** Whether the question is there for the caller, as `foundQuestion` says of one. */
function isThere(ctx: Context, { question, isOwn, status, visibility, hidden, role, source }: Voter): boolean {
  const invited = byInvitation(source && { source });
  const seesSession = !hidden && (isOffice(ctx, 'read') || role !== null || isFound({ status, visibility, hidden }, invited));
  return seesSession && isShown(question, { isOwn, moderates: isOffice(ctx, 'moderate') || mayModerate(role) });
}

/**
 * Why each may not vote for the question that all name, or null; in one statement, because a crowd asks 300 times a second. Whoever was removed
 * from the room says nothing beside it. Asks follows; never in a transaction.
 */
export async function votersRefusals(ctx: Context, calls: readonly Voting[]): Promise<(Problem | null)[]> {
  const ids = [...new Set(calls.map(one => one.ctx.caller.userId!))];
  const rows = await ctx.sql<Voter>(VOTERS, [calls[0]!.input.id, ids, ctx.now().toISOString()]);
  const [{ sessionId, createdBy } = { sessionId: '', createdBy: '' }] = rows;
  const blocked = await blockedIn(ctx, { id: sessionId, createdBy }, ids);
  const voters = new Map(rows.map(row => [row.userId, row]));
  return calls.map(one => {
    const voter = voters.get(one.ctx.caller.userId!);
    if (!voter || !isThere(one.ctx, voter) || blocked.has(voter.userId)) return new Problem('not_found', 'Not found');
    return voter.isRemoved ? removal() : null;
  });
}
