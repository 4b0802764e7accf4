import { Permanent, type Envelope } from '../../../events/consumer.js';
import { systemCaller, actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { LedgerTransactionKind } from '../entities/enums.js';
import { ledgerOf } from '../ports/postgres/engine.js';
import type { Facts, Flow, LateEntries, Posting, PostOutcome, Source } from '../ports/ledger-engine.js';
import { ruleOf } from '../queries/posting-rules.js';
import { DEFERRED_REVENUE } from '../rules/chart.js';
import { mirrored, type EntryDraft } from '../rules/entries.js';
import { grossRefund, netRefund, NO_FACTS, scopeOf, type EventFacts } from '../rules/event-scope.js';
import { applyRule, type PostingRule, type RuledPosting } from '../rules/posting-rule.js';
import { newSchedule, refund, unrefund, type Schedule } from '../rules/recognition.js';

type Data = Readonly<Record<string, any>>;

/** What an event type asks of the books before it is booked, and what it makes of the answers. */
interface Asking {
  accounts?: readonly string[];
  schedules?: readonly string[];
  flows?: readonly Flow[];
  sources?: readonly Source[];
  /** Facts for the rule. */
  read(facts: Facts): Partial<EventFacts>;
  /** Changes what the rule has made. */
  change?(made: RuledPosting, facts: Facts): { made: RuledPosting; schedules: Schedule[] };
}

const code = (template: string, { currency }: Data): string => `${template}:${String(currency).toLowerCase()}`;
const sourceOf = (service: string, type: string, id: string): Source => ({ service, type, id });
const chargeOf = ({ payment_id }: Data): Source => sourceOf('payments', 'payment.charged', String(payment_id));
const UNASSIGNED = 'assets:processor:unassigned';

const processorOf = (facts: Facts, data: Data): string | null =>
  (facts.transaction(chargeOf(data))?.metadata.processor as string | undefined) ?? null;

/** The processor of a charge that may not have come yet is told by the charge. */
const byProcessor = (data: Data): Asking => ({
  accounts: [code(UNASSIGNED, data)],
  sources: [chargeOf(data)],
  read: facts => ({ processor: processorOf(facts, data) }),
});

const charged = (data: Data): Asking => {
  const accountCode = code(UNASSIGNED, data);
  return {
    accounts: [accountCode],
    flows: [{ accountCode, flowId: String(data.payment_id) }],
    read: facts => ({ unassigned: 0 - facts.flow(accountCode, String(data.payment_id)) }),
  };
};

const disputeClosed = (data: Data): Asking => {
  const opened = sourceOf('payments', 'payment.dispute.created.needs_response', String(data.dispute_id));
  return {
    ...byProcessor(data),
    sources: [chargeOf(data), opened],
    read: facts => ({ processor: processorOf(facts, data), isDisputed: facts.transaction(opened) !== null }),
  };
};

const drawnOf = (entries: readonly EntryDraft[]): number =>
  entries.filter(one => one.accountCode.startsWith(DEFERRED_REVENUE)).reduce((sum, one) => sum + one.amount, 0);

/** What was booked before the charge came has been given to its processor since. */
const assigned = (entry: EntryDraft, processor: string | null): EntryDraft =>
  processor && entry.accountCode.startsWith(UNASSIGNED)
    ? { ...entry, accountCode: code(`assets:processor:${processor}`, { currency: entry.currency }), flowId: null }
    : entry;

interface Counterpart {
  entries: readonly EntryDraft[] | null;
  schedule: Schedule | null;
  processor: string | null;
}

/** A bounced refund undoes what the refund has booked, whichever of the two comes first. */
function bounced(made: RuledPosting, { entries: counterpart, schedule, processor }: Counterpart, data: Data) {
  const isFailed = data.status === 'failed';
  if (counterpart) {
    const undone = schedule && isFailed ? [unrefund(schedule, drawnOf(counterpart), grossRefund(data))] : [];
    return { made: { ...made, entries: mirrored(counterpart).map(entry => assigned(entry, processor)) }, schedules: undone };
  }
  return { made: isFailed ? { ...made, entries: mirrored(made.entries) } : made, schedules: [] };
}

const refunded = (data: Data): Asking => {
  const key = (data.invoice_id ?? data.obligation_id ?? null) as string | null;
  const other = data.status === 'failed' ? 'succeeded' : 'failed';
  const counterpart = sourceOf('payments', `payment.refunded.${other}`, String(data.refund_id));
  const scheduleOf = (facts: Facts): Schedule | null =>
    (key && facts.schedule(key)) || (data.invoice_id ? newSchedule(String(data.invoice_id), String(data.currency)) : null);
  const drawnFrom = (facts: Facts) => {
    const schedule = data.status === 'succeeded' && !facts.transaction(counterpart) ? scheduleOf(facts) : null;
    return schedule && refund(schedule, netRefund(data), grossRefund(data));
  };
  return {
    ...byProcessor(data),
    schedules: key ? [key] : [],
    sources: [chargeOf(data), counterpart],
    read: facts => {
      const drawn = drawnFrom(facts);
      return { processor: processorOf(facts, data), drawn: drawn?.drawn ?? 0, scheduleKey: drawn?.schedule.key ?? null };
    },
    change: (made, facts) => {
      const entries = facts.transaction(counterpart)?.entries ?? null;
      const done = bounced(made, { entries, schedule: scheduleOf(facts), processor: processorOf(facts, data) }, data);
      const drawn = drawnFrom(facts);
      return drawn ? { ...done, schedules: [drawn.schedule] } : done;
    },
  };
};

/** A grant may lapse in parts: what of it was reserved lapses when its reservation ends. The first part has the grant's id alone. */
const expired =
  (eventId: string) =>
  (data: Data): Asking => {
    const first = sourceOf('cash', 'cash.expired', String(data.grant_id));
    const further = { ...first, id: `${first.id}:${eventId}` };
    return {
      sources: [first, further],
      read: () => ({ eventId }),
      change: (made, facts) => {
        const before = facts.transaction(first);
        const isFurther = before !== null && before.metadata.event_id !== eventId;
        return { made: { ...made, source: isFurther ? further : first }, schedules: [] };
      },
    };
  };

/** A commission is posted net of what was clawed back before; what was clawed back after it has been taken from what was on hold. */
const commissionPosted =
  (eventSeq: number) =>
  (data: Data, userId: string): Asking => {
    const id = String(data.accrual_id ?? data.commission_id);
    const accountCode = code(`liabilities:earnings_pending:${userId}`, data);
    return {
      flows: [{ accountCode, flowId: id, afterSeq: eventSeq }],
      read: facts => ({ clawedBack: 0 - facts.flow(accountCode, id), eventSeq }),
    };
  };

const commissionReversed =
  (eventSeq: number) =>
  (data: Data, userId: string): Asking => {
    const source = sourceOf('affiliates', 'affiliate.commission.posted', String(data.commission_id));
    const accounts = [code(`liabilities:wallet:earnings:${userId}`, data)];
    const isPosted = (facts: Facts): boolean => {
      const posted = facts.transaction(source);
      return posted !== null && Number(posted.metadata.event_seq ?? 0) < eventSeq;
    };
    return { accounts, sources: [source], read: facts => ({ isPosted: isPosted(facts), eventSeq }) };
  };

/** What an event asks; undefined for one whose entries follow from it alone. */
function askingOf({ type, id, user_id, seq }: Envelope, data: Data): Asking | undefined {
  const asking: Readonly<Record<string, (data: Data, userId: string) => Asking>> = {
    'payment.charged.v1': charged,
    'payment.refunded.v1': refunded,
    'payment.dispute.created.v1': byProcessor,
    'payment.dispute.closed.v1': disputeClosed,
    'cash.expired.v1': expired(id),
    'affiliate.commission.posted.v1': commissionPosted(seq),
    'affiliate.commission.reversed.v1': commissionReversed(seq),
  };
  return asking[type]?.(data, String(user_id));
}

function lateOf(rule: PostingRule, event: Envelope, data: Data, asking: Asking, first: RuledPosting): LateEntries {
  const { accounts = [], schedules = [], flows = [], sources = [], read, change } = asking;
  return {
    opens: [],
    accounts: [...accounts, ...first.entries.map(one => one.accountCode)],
    schedules,
    flows,
    sources,
    build: facts => {
      const known = { ...NO_FACTS, ...read(facts) };
      const made = applyRule(rule, scopeOf(event.type, data, event.user_id, known));
      if (!made) return { entries: [], schedules: [] };
      const changed = change?.(made, facts) ?? { made, schedules: [] };
      const { source, metadata, entries } = changed.made;
      return { source, metadata, entries, schedules: changed.schedules };
    },
  };
}

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);

function postingOf(ctx: Context, event: Envelope, rule: PostingRule, made: RuledPosting, asking: Asking | undefined): Posting {
  const data = event.data as Data;
  const late = asking ? lateOf(rule, event, data, asking, made) : null;
  const caller = systemCaller('accounting');
  return {
    kind: LedgerTransactionKind.DIRECT,
    source: made.source,
    ruleVersion: rule.version,
    description: made.description,
    userId: event.user_id,
    effectiveAt: earlier(new Date(event.occurred_at), ctx.now()), // the clocks of services differ
    expiresAt: null,
    metadata: late ? {} : made.metadata,
    entries: late ? [] : made.entries,
    late,
    isFact: true,
    resolves: null,
    reverses: null,
    requestHash: null,
    origin: { caller, actor: actorOf(caller), requestId: event.request_id, causationId: event.id, traceparent: event.traceparent },
    audit: 'ledger_transaction.booked',
  };
}

/** A fact that nothing will ever make valid is told so; what may pass is tried again. */
function requireBooked(outcome: PostOutcome): void {
  if (outcome.outcome !== 'rejected') return;
  if (outcome.problem.code === 'invalid_request') throw new Permanent(outcome.problem.message);
  throw outcome.problem;
}

/**
 * Books what an event says, once, by its rule. Outside of the consumer's transaction, so that many events share a commit: what makes it
 * exactly once is the source, which the ledger keeps for ever. @throws Permanent, Problem
 */
export async function bookEvent(ctx: Context, event: Envelope): Promise<void> {
  const data = event.data as Data;
  const rule = await ruleOf(ctx, event.type);
  if (!rule) return;
  const asking = askingOf(event, data);
  const supposed = asking ? { ...NO_FACTS, isDisputed: true } : NO_FACTS;
  const made = applyRule(rule, scopeOf(event.type, data, event.user_id, supposed));
  if (!made) return;
  const [outcome] = await ledgerOf(ctx.host).post([postingOf(ctx, event, rule, made, asking)]);
  requireBooked(outcome!);
}
