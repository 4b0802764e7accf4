import { randomUUID } from 'node:crypto';
import type { CallOptions, Federation, StoredDocument } from '../../runtime/federation/federation.js';
import type { Members } from './fixture.js';

interface Asked {
  operation: string;
  variables: any;
  options: CallOptions | undefined;
}

type Answering = (variables: any) => unknown;

/** Payments as membership asks it, while it is in no supergraph: a double in place of the federation. */
export class Payments {
  readonly asked: Asked[] = [];
  readonly #answers = new Map<string, Answering>();
  readonly #host: { federation: Federation };
  readonly #real: Federation;

  constructor(m: Members) {
    this.#host = m.p.host('membership') as { federation: Federation };
    this.#real = this.#host.federation;
    Object.assign(this.#host, { federation: { run: (...call: Parameters<Federation['run']>) => this.#run(...call) } });
  }

  /** What an operation is answered with, by its name. */
  answer(operation: string, answering: Answering): void {
    this.#answers.set(operation, answering);
  }

  /** Puts the federation back, which knows no payments. */
  leave(): void {
    Object.assign(this.#host, { federation: this.#real });
  }

  async #run(document: StoredDocument, variables?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<any> {
    const operation = /(?:query|mutation) (\w+)/.exec(document.source)![1]!;
    const answering = this.#answers.get(operation);
    if (!answering) return this.#real.run(document, variables, options);
    this.asked.push({ operation, variables, options });
    return answering(variables);
  }
}

/** A price as payments shows it. */
export const monthly = (tier: string | null, more: object = {}) => ({
  id: randomUUID(),
  key: `${tier}-monthly`,
  tier,
  active: true,
  unitAmount: { amount: 9_900, currency: 'USD' },
  recurring: { interval: 'MONTH', intervalCount: 1 },
  trialDays: 0,
  ...more,
});
