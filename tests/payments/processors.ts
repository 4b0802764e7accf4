import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '../../runtime/data/database.js';
import { parseNetworks } from '../../runtime/http/public-address.js';
import { createLogger } from '../../runtime/observe/log.js';
import { systemClock, type Clock } from '../../runtime/time/clock.js';
import type { HeaderReader, Processor, ProcessorResult } from '../../subgraphs/payments/ports/processor.js';
import { SandboxProcessor } from '../../subgraphs/payments/ports/sandbox/adapter.js';
import { signatureOf } from '../../subgraphs/payments/ports/sandbox/courier.js';
import { startSandbox } from '../../subgraphs/payments/ports/sandbox/server.js';
import { StripeProcessor } from '../../subgraphs/payments/ports/stripe/adapter.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { freePort } from '../support/platform.js';
import { startReceiver } from '../support/receiver.js';
import { StripeDouble } from './stripe-double.js';

/** A processor under test, and what is done in the place of customer and bank. */
export interface Subject {
  processor: Processor;
  /** Not started, so that nobody answers. */
  unreachable: Processor;
  /** Answers after this one's deadline. */
  slow(): Promise<{ result: ProcessorResult<unknown> }>;
  secret: string;
  /** Method tokens that it knows, as a suite of both needs them. */
  dispute(chargeId: string): Promise<string>;
  /** A call about an object, with its header. */
  notice(
    kind: 'charge' | 'refund' | 'dispute' | 'payout' | 'other',
    id: string,
    at: Date,
    secret?: string,
  ): { body: Buffer; header: HeaderReader };
  stop(): Promise<void>;
}

export const clock: Clock = systemClock;
const KEY = 'key-of-the-sandbox-in-tests';
const SECRET = 'webhook-secret-of-tests';

const headers =
  (name: string, value: string): HeaderReader =>
  asked =>
    asked === name ? value : null;

/** The sandbox on a database of its own. */
export async function sandboxSubject(): Promise<Subject & { sandbox: SandboxProcessor; sql: pg.Pool }> {
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  await migrate(databaseUrl, ['payments']);
  const receiver = await startReceiver();
  const log = createLogger('silent');
  const running = await startSandbox({
    databaseUrl,
    manualClock: true,
    baseUrl: receiver.url,
    webhookSecret: SECRET,
    key: KEY,
    port: 0,
    log,
  });
  const sandbox = new SandboxProcessor({ key: KEY, url: async () => running.url });
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const sql = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  return {
    processor: sandbox,
    sandbox,
    sql,
    unreachable: new SandboxProcessor({ key: KEY, url: async () => nowhere }),
    slow: async () => {
      const { id: customerId } = await got(sandbox.ensureCustomer({ userId: 'u-slow', brandId: 'b', email: null }, call('slow-customer')));
      const method = await got(sandbox.attachMethod({ customerId, token: 'sbx_timeout_success' }, call('slow-method')));
      return { result: await sandbox.charge(charge(customerId, method.id), call('slow-charge')) };
    },
    secret: SECRET,
    dispute: async chargeId => {
      await sandbox.act({ action: 'open_dispute', id: chargeId, amount: null });
      const { rows } = await sql.query(`select id from payments.processor_object where kind = 'dispute' and parent_id = $1`, [chargeId]);
      return (rows[0] as { id: string }).id;
    },
    notice: (kind, id, at, secret = SECRET) => {
      const object = kind === 'other' ? { kind: 'plan', id } : { kind, id };
      const body = Buffer.from(
        JSON.stringify({ id: `evt_${id}`, type: `${kind}.updated`, created: Math.floor(at.getTime() / 1000), data: { object } }),
      );
      return { body, header: headers('processor-signature', signatureOf(body, secret, at)) };
    },
    stop: async () => {
      await running.stop();
      await sql.end();
      await receiver.stop();
      await dropDatabase(databaseUrl);
    },
  };
}

const OBJECTS = { charge: 'payment_intent', refund: 'refund', dispute: 'dispute', payout: 'payout', other: 'plan' } as const;

/** Stripe's adapter against its double. */
export async function stripeSubject(): Promise<Subject & { double: StripeDouble }> {
  const double = await new StripeDouble().start();
  const setting = { secretKey: double.key, host: '127.0.0.1', protocol: 'http' as const, allowed: parseNetworks('127.0.0.0/8') };
  const processor = new StripeProcessor({ ...setting, port: double.port });
  const hasty = new StripeProcessor({ ...setting, port: double.port, deadlineMs: 200 });
  const unreachable = new StripeProcessor({ ...setting, port: await freePort() });
  return {
    processor,
    unreachable,
    double,
    slow: async () => {
      const { id: customerId } = await got(
        processor.ensureCustomer({ userId: 'u-slow', brandId: 'b', email: null }, call('slow-customer')),
      );
      const method = await got(processor.attachMethod({ customerId, token: 'pm_card_visa' }, call('slow-method')));
      double.delayMs = 1_000;
      const result = await hasty.charge(charge(customerId, method.id), call('slow-charge'));
      double.delayMs = 0;
      return { result };
    },
    secret: double.secret,
    dispute: async chargeId => double.openDispute(chargeId),
    notice: (kind, id, at, secret = double.secret) => {
      const { body, header } = double.event(`${kind}.updated`, { id, object: OBJECTS[kind] }, secret, Math.floor(at.getTime() / 1000));
      return { body, header: headers('stripe-signature', header) };
    },
    stop: async () => {
      await Promise.all([processor, hasty, unreachable].map(one => one.close()));
      await double.stop();
    },
  };
}

export const call = (idempotencyKey: string) => ({ idempotencyKey, clock });

export const charge = (customerId: string, methodId: string, more: object = {}) => ({
  customerId,
  methodId,
  amount: 10_000,
  currency: 'USD',
  capture: 'automatic' as const,
  offSession: false,
  statementDescriptor: 'ACME',
  returnUrl: 'https://app.example.com/done',
  authenticationUrl: 'https://api.example.com/payments/pay/token',
  metadata: {},
  ...more,
});

/** The data of a call that succeeded. @throws Error for any other outcome. */
export async function got<Data>(asked: Promise<ProcessorResult<Data>>): Promise<Data> {
  const result = await asked;
  if (result.status !== 'succeeded') throw new Error(`the outcome is ${JSON.stringify(result)}`);
  return result.data;
}
