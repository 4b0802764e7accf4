import type { ProcessorMoney, ProcessorResult } from '../processor.js';
import { act, type Action } from './actions.js';
import { listBalanceTransactions } from './balance.js';
import { cancel, capture, charge, retrieveCharge } from './charges.js';
import { Courier, type CourierSetting } from './courier.js';
import { attachMethod, deleteCustomer, detachMethod, ensureCustomer, listMethods } from './customers.js';
import { acceptDispute, retrieveDispute, submitEvidence } from './disputes.js';
import { cancelPayout, createPayout, describeDestination, retrievePayout } from './payouts.js';
import { refund, retrieveRefund } from './refunds.js';
import { SandboxStore, type SandboxTransaction } from './store.js';

/** A call of the sandbox's API. */
export interface SandboxCall {
  readonly input: any;
  readonly key: string;
}

type Operation = (tx: SandboxTransaction, input: any, key: string) => Promise<ProcessorResult<unknown>>;

const DATES = ['from', 'to'];
const withDates = (input: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, DATES.includes(name) ? new Date(String(value)) : value]));

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ensureCustomer,
  deleteCustomer,
  attachMethod,
  detachMethod,
  listMethods,
  capture: (tx, input: { chargeId: string } & ProcessorMoney) => capture(tx, input),
  cancel,
  retrieveCharge,
  refund,
  retrieveRefund,
  describeDestination,
  createPayout,
  retrievePayout,
  cancelPayout,
  submitEvidence,
  acceptDispute,
  retrieveDispute,
  listBalanceTransactions: (tx, input) => listBalanceTransactions(tx, withDates(input) as never),
};

/** No answer is to be given: the connection is to be cut after a while. */
export const SILENCE = Symbol('silence');

/** Calls that are sent again in one action: each waits for its answer, and so does whoever acts. */
const MOST_REVERSED = 20;

/** The sandbox without its HTTP server. */
export class Sandbox {
  readonly #courier: Courier;

  constructor(
    private readonly store: SandboxStore,
    setting: CourierSetting,
  ) {
    this.#courier = new Courier(store, setting);
  }

  start(): void {
    this.#courier.start();
  }

  async stop(): Promise<void> {
    await this.#courier.stop();
    await this.store.close();
  }

  /** @returns undefined where there is no such operation. */
  async run(operation: string, { input, key }: SandboxCall): Promise<ProcessorResult<unknown> | typeof SILENCE | undefined> {
    if (operation === 'charge') return this.#charge(input, key);
    if (!Object.hasOwn(OPERATIONS, operation)) return undefined;
    return this.store.transaction(tx => OPERATIONS[operation]!(tx, input, key));
  }

  async #charge(input: any, key: string): Promise<ProcessorResult<unknown> | typeof SILENCE> {
    const { result, isFirstSilent } = await this.store.transaction(tx => charge(tx, input, key));
    return isFirstSilent ? SILENCE : result;
  }

  /** @returns whether something was done. */
  async act(action: Action): Promise<boolean> {
    if (action.action === 'redeliver_last' || action.action === 'deliver_reversed') return this.#redeliver(action);
    return this.store.transaction(tx => act(tx, action));
  }

  /** Sends calls again, one after the other: the last one, or the latest from the last to the first. */
  async #redeliver({ action, id }: Action): Promise<boolean> {
    const all = await this.store.transaction(tx => tx.notices(id));
    const wanted = action === 'redeliver_last' ? all.slice(-1) : all.slice(-MOST_REVERSED).toReversed();
    for (const notice of wanted) await this.#courier.deliver(notice);
    return wanted.length > 0;
  }
}
