import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { TimelineSource, type TimelineEntry } from '../entities/timeline.js';

const BOOKED = stored(`query TimelineBookings($id: ID!) {
  ledgerTransactions(sourceId: $id, first: 100) { nodes { id kind effectiveAt } }
}`);
const COMMISSIONS = stored(`query TimelineCommissions($id: ID!) {
  obligationCommissions(obligationId: $id) { id status amount { amount currency } createdAt }
}`);
const ACCESS = stored(`query TimelineAccess($user: ID!) {
  entitlementChanges(userId: $user, first: 100) { nodes { id access changedAt } }
}`);

type Asker = Pick<ServiceHost, 'federation'>;

/** What is asked about: the payment and what goes with it. */
export interface TimelineSubject {
  userId: string;
  obligationId: string | null;
  /** Ids of facts that are booked: the payment, its obligation, refunds and disputes. */
  sourceIds: readonly string[];
}

async function booked({ federation }: Asker, { sourceIds }: TimelineSubject): Promise<TimelineEntry[]> {
  interface Booked {
    ledgerTransactions: { nodes: { id: string; kind: string; effectiveAt: string }[] };
  }
  const answers = await Promise.all(sourceIds.map(id => federation.run<Booked>(BOOKED, { id })));
  return answers.flatMap(({ ledgerTransactions: { nodes } }) =>
    nodes.map(({ id, effectiveAt }) => ({
      at: new Date(effectiveAt),
      source: TimelineSource.ACCOUNTING,
      kind: 'ledger_posted',
      id,
      amount: null,
    })),
  );
}

async function commissions({ federation }: Asker, { obligationId }: TimelineSubject): Promise<TimelineEntry[]> {
  interface Accrued {
    obligationCommissions: { id: string; status: string; amount: { amount: number; currency: string }; createdAt: string }[];
  }
  if (obligationId === null) return [];
  const { obligationCommissions: found } = await federation.run<Accrued>(COMMISSIONS, { id: obligationId });
  return found.map(({ id, status, amount, createdAt }) => ({
    at: new Date(createdAt),
    source: TimelineSource.AFFILIATES,
    kind: `commission_${status.toLowerCase()}`,
    id,
    amount,
  }));
}

async function access({ federation }: Asker, { userId }: TimelineSubject): Promise<TimelineEntry[]> {
  interface Changed {
    entitlementChanges: { nodes: { id: string; access: string; changedAt: string }[] };
  }
  const { entitlementChanges } = await federation.run<Changed>(ACCESS, { user: userId });
  return entitlementChanges.nodes.map(({ id, access: to, changedAt }) => ({
    at: new Date(changedAt),
    source: TimelineSource.ENTITLEMENTS,
    kind: `access_${to.toLowerCase()}`,
    id,
    amount: null,
  }));
}

const PARTNERS = [
  [TimelineSource.ACCOUNTING, booked],
  [TimelineSource.AFFILIATES, commissions],
  [TimelineSource.ENTITLEMENTS, access],
] as const;

/** What neighbours tell of a payment; one that is not there, or does not answer, is named instead. */
export async function toldByOthers(
  host: Asker,
  subject: TimelineSubject,
): Promise<{ entries: TimelineEntry[]; omitted: TimelineSource[] }> {
  const told = await Promise.all(
    PARTNERS.map(([source, ask]) =>
      ask(host, subject).then(
        entries => ({ source, entries }),
        () => ({ source, entries: null }),
      ),
    ),
  );
  return {
    entries: told.flatMap(({ entries }) => entries ?? []),
    omitted: told.flatMap(({ source, entries }) => (entries ? [] : [source])),
  };
}
