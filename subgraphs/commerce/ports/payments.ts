import type { ServiceHost } from '../../../runtime/request/context.js';
import { doubleOf } from './payments-double.js';
import { FederatedPayments } from './payments-federated.js';
import type { PaymentsPort } from './payments-port.js';

export type { OrderToPay, PromoCase, PromoJudgement, SessionAnswer } from './payments-port.js';

const ports = new WeakMap<object, PaymentsPort>();

/** The port that is configured: payments, or with `COMMERCE_PAYMENTS=double` a table, or a process of its own. @throws Error. */
export function paymentsOf(host: ServiceHost): PaymentsPort {
  const found = ports.get(host);
  if (found) return found;
  const kind = host.config.setting('COMMERCE_PAYMENTS') ?? 'federation';
  if (kind !== 'federation' && kind !== 'double') throw new Error('COMMERCE_PAYMENTS must be one of federation, double');
  if (kind === 'double' && host.config.production) throw new Error('COMMERCE_PAYMENTS=double is for development and tests');
  const made = kind === 'double' ? doubleOf(host) : new FederatedPayments(host);
  ports.set(host, made);
  return made;
}
