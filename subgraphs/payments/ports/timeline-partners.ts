import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { TimelineSource, type TimelineEntry } from '../entities/timeline.js';

const BOOKED = stored(`query TimelineBookings($id: ID!) {
  ledgerTransactions(sourceId: $id, first: 100) { nodes { id kind effectiveAt } }
}`);
const COMMISSIONS = stored(`query TimelineCommissions($id: ID!) {
  commissions(obligationId: $id, first: 100) { nodes { id status amount { amount currency } createdAt } }
}`);
const ACCESS = stored(`query TimelineAccess($user: ID!) {
  entitlementOverrides(userId: $user, first: 100) { nodes { id allow createdAt } }
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
    commissions: { nodes: { id: string; status: string; amount: { amount: number; currency: string }; createdAt: string }[] };
  }
  if (obligationId === null) return [];
  const { commissions: found } = await federation.run<Accrued>(COMMISSIONS, { id: obligationId });
  return found.nodes.map(({ id, status, amount, createdAt }) => ({
    at: new Date(createdAt),
    source: TimelineSource.AFFILIATES,
    kind: `commission_${status.toLowerCase()}`,
    id,
    amount,
  }));
}

async function access({ federation }: Asker, { userId }: TimelineSubject): Promise<TimelineEntry[]> {
  interface Changed {
    entitlementOverrides: { nodes: { id: string; allow: boolean; createdAt: string }[] };
  }
  const { entitlementOverrides } = await federation.run<Changed>(ACCESS, { user: userId });
  return entitlementOverrides.nodes.map(({ id, allow, createdAt }) => ({
    at: new Date(createdAt),
    source: TimelineSource.ENTITLEMENTS,
    kind: allow ? 'access_given' : 'access_denied',
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
