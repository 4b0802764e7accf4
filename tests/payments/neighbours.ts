import { randomUUID } from 'node:crypto';
import type { StoredDocument } from '../../runtime/federation/federation.js';
import { Problem } from '../../runtime/request/errors.js';
import type { TestPlatform } from '../support/platform.js';

type Answer = (variables: any) => unknown;

/** The books as payments uses them, where accounting is not started: wallets with a floor of 0, each transaction resolved once. */
export class Ledger {
  readonly wallets = new Map<string, number>();
  readonly held = new Map<
    string,
    { source: string; user: string; amount: number; state: 'pending' | 'posted' | 'voided'; isReversed: boolean }
  >();
  /** Null: accounting is not there. */
  booked: Map<string, number> | null = new Map();
  isDown = false;

  available(user: string): number {
    const open = [...this.held.values()].filter(one => one.user === user && one.state === 'pending');
    return (this.wallets.get(user) ?? 0) - open.reduce((sum, one) => sum + one.amount, 0);
  }

  hold({ input }: any): object {
    const { source, userId: user, entries } = input;
    const known = [...this.held].find(([, one]) => one.source === source.id);
    if (known) return { postLedgerTransaction: { id: known[0] } };
    const { amount } = entries[0].amount;
    if (amount > this.available(user)) throw new Problem('conflict', 'too little', { reason: 'insufficient_funds' });
    const id = randomUUID();
    this.held.set(id, { source: source.id, user, amount, state: 'pending', isReversed: false });
    return { postLedgerTransaction: { id } };
  }

  resolve({ input: { id, action } }: any): object {
    const one = this.held.get(id)!;
    if (one.state !== 'pending') throw new Problem('conflict', 'resolved already');
    one.state = action === 'POST' ? 'posted' : 'voided';
    if (action === 'POST') this.wallets.set(one.user, this.wallets.get(one.user)! - one.amount);
    return { resolvePendingLedgerTransaction: { id: `r-${id}` } };
  }

  read({ id }: any): object {
    const { state, isReversed } = this.held.get(id)!;
    const kind = state === 'posted' ? 'POST_PENDING' : 'VOID_PENDING';
    return {
      ledgerTransaction: {
        id,
        resolvedBy: state === 'pending' ? null : { id: `r-${id}`, kind, reversedBy: isReversed ? { id: 'x' } : null },
      },
    };
  }

  reverse({ input: { id } }: any): object {
    const one = this.held.get(id.slice(2))!;
    if (one.isReversed) throw new Problem('conflict', 'reversed already');
    one.isReversed = true;
    this.wallets.set(one.user, this.wallets.get(one.user)! + one.amount);
    return { reverseLedgerTransaction: { id: randomUUID() } };
  }

  charges(): object {
    const nodes = [...(this.booked ?? [])].map(([id, amount]) => ({
      source: { id },
      entries: [{ direction: 'CREDIT', amount: { amount, currency: 'USD' } }],
    }));
    return { ledgerTransactions: { nodes, pageInfo: { endCursor: null, hasNextPage: false } } };
  }
}

/** The shop's orders, where commerce is not started; null: it is not there. */
export interface Storefront {
  orders: { id: string; paymentStatus: string; placedAt: string; totals: { total: { amount: number; currency: string } } }[] | null;
}

const absent = (): never => {
  throw new Problem('invalid_request', 'Cannot query field');
};

/** Puts doubles in the place of accounting and commerce; everything else is asked for real. */
export function neighbours(p: TestPlatform): { ledger: Ledger; storefront: Storefront } {
  const [ledger, storefront]: [Ledger, Storefront] = [new Ledger(), { orders: null }];
  const answers: Record<string, Answer> = {
    PaymentsHoldPayout: variables => ledger.hold(variables),
    PaymentsResolvePayout: variables => ledger.resolve(variables),
    PaymentsPayoutBooked: variables => ledger.read(variables),
    PaymentsReversePayout: variables => ledger.reverse(variables),
    PaymentsBookedCharges: () => (ledger.booked === null ? absent() : ledger.charges()),
    PaymentsOrdersOfPeriod: () =>
      storefront.orders === null ? absent() : { orders: { nodes: storefront.orders, pageInfo: { endCursor: null, hasNextPage: false } } },
  };
  const { federation } = p.host('payments');
  const real = federation.run.bind(federation);
  const run = async (document: StoredDocument, variables: object, ...rest: []): Promise<unknown> => {
    const name = /^\s*(?:query|mutation)\s+(\w+)/.exec(document.source)?.[1] ?? '';
    const answer = answers[name];
    if (!answer) return real(document, variables as never, ...rest);
    if (ledger.isDown) throw new Problem('unavailable', 'The federation cannot be reached');
    return answer(variables);
  };
  Object.assign(federation, { run }); // for the whole file: spies are restored after each test
  return { ledger, storefront };
}
