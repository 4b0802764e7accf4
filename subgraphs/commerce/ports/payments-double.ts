import { createHash } from 'node:crypto';
import { request } from 'undici';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem, type ProblemCode } from '../../../runtime/request/errors.js';
import { PaymentsTable, SILENT, type DeclinedAnswer, type DoubleSql } from './payments-table.js';
import type { PaymentsPort } from './payments-port.js';

const DEADLINE_MS = 10_000;
const OPERATIONS = [
  'createCheckout',
  'confirmCheckout',
  'cancelCheckout',
  'refund',
  'validatePromo',
  'reservePromo',
  'commitPromo',
  'releasePromo',
  'hasMethod',
] as const satisfies readonly (keyof PaymentsPort)[];

/** Both sides derive the key of the double's API from the keys that all processes share. */
export const doubleKey = (encryptionKeys: string): string =>
  createHash('sha256').update(`commerce double ${encryptionKeys}`).digest('base64url');

type Call = (operation: string, args: readonly unknown[]) => Promise<unknown>;

/** A decline is the problem that payments would have answered with. */
function requireAccepted(answer: unknown): unknown {
  const { declined, id } = (answer ?? {}) as Partial<DeclinedAnswer>;
  if (declined) throw new Problem('payment_declined', 'The payment was declined', { members: { ...declined, checkoutSessionId: id } });
  return answer;
}

/** A port whose every operation is one call. */
const portOf = (call: Call): PaymentsPort =>
  Object.fromEntries(
    OPERATIONS.map(name => [name, async (...args: unknown[]) => requireAccepted(await call(name, args))]),
  ) as never as PaymentsPort;

const never = (): Promise<never> => new Promise(() => undefined);

/** The double in this process, on the service's own connections. */
function embedded(host: ServiceHost): Call {
  return async (operation, args) => {
    const answer = await host.transaction(ctx => new PaymentsTable(ctx.sql as DoubleSql).run(operation, args));
    return answer === SILENT ? never() : answer;
  };
}

/** What the double's own process answers. */
export interface DoubleAnswer {
  result?: unknown;
  problem?: { code: ProblemCode; detail: string; members?: Record<string, unknown> };
}

async function post(url: string, key: string, args: readonly unknown[]): Promise<DoubleAnswer> {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(args),
    headersTimeout: DEADLINE_MS,
    bodyTimeout: DEADLINE_MS,
  });
  if (answer.statusCode === 200) return (await answer.body.json()) as DoubleAnswer;
  await answer.body.dump();
  throw new Error(`the double of payments has answered ${answer.statusCode}`);
}

/** The double in a process of its own. @throws Problem unavailable while it is gone; what it refused otherwise. */
function remote(url: string, key: string): Call {
  return async (operation, args) => {
    const { problem, result } = await post(`${url}/${operation}`, key, args).catch(cause => {
      throw new Problem('unavailable', 'payments cannot be reached', { retryAfter: 1, cause });
    });
    if (problem) throw new Problem(problem.code, problem.detail, { ...(problem.members && { members: problem.members }) });
    return result;
  };
}

/** Source: commerce 8. */
export function doubleOf(host: ServiceHost): PaymentsPort {
  const url = host.config.setting('COMMERCE_PAYMENTS_URL')?.replace(/\/+$/, '');
  return portOf(url ? remote(url, doubleKey(host.config.encryptionKeys ?? '')) : embedded(host));
}
