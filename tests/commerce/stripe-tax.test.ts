import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseNetworks } from '../../runtime/http/public-address.js';
import { StripeTax } from '../../subgraphs/commerce/ports/stripe-tax.js';
import type { TaxableLine } from '../../subgraphs/commerce/ports/tax-quote.js';

const KEY = 'sk_test_double';
const HOME = { line1: '1 Main Street', city: 'Los Angeles', region: 'CA', postalCode: '90001', country: 'US' };
const RATE = 82_500;

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}

/** A line as Stripe answers it, last line first. https://docs.stripe.com/api/tax/calculations/object */
function calculated(form: URLSearchParams): object[] {
  const lines = [];
  for (let at = 0; form.has(`line_items[${at}][reference]`); at++) {
    const amount = Number(form.get(`line_items[${at}][amount]`));
    const isInclusive = form.get(`line_items[${at}][tax_behavior]`) === 'inclusive';
    const tax_breakdown = [
      {
        jurisdiction: { country: form.get('customer_details[address][country]'), state: form.get('customer_details[address][state]') },
        tax_rate_details: { display_name: 'Sales Tax', percentage_decimal: String(RATE / 10_000) },
      },
    ];
    const amount_tax = Math.round((amount * RATE) / (1_000_000 + (isInclusive ? RATE : 0)));
    lines.unshift({ reference: form.get(`line_items[${at}][reference]`), amount_tax, tax_breakdown });
  }
  return lines;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = await formOf(request);
  const isKnown = request.headers.authorization === `Bearer ${KEY}`;
  response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isKnown ? { line_items: { data: calculated(form) } } : { error: { type: 'invalid_request_error' } }));
}

/** Stripe Tax as far as commerce asks it. */
async function startDouble(): Promise<Server> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}

interface Subject {
  tax: StripeTax;
  /** With a key that Stripe does not know. */
  stranger: StripeTax;
  stop(): Promise<void>;
}

async function doubleSubject(): Promise<Subject> {
  const server = await startDouble();
  const setting = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, allowed: parseNetworks('127.0.0.0/8') };
  const stop = (): Promise<void> => new Promise(resolve => server.close(() => resolve()));
  return { tax: new StripeTax({ ...setting, key: KEY }), stranger: new StripeTax({ ...setting, key: 'sk_test_nobody' }), stop };
}

/** Stripe's own test mode, with the key of STRIPE_TEST_KEY; its account has an address and Stripe Tax. */
async function testModeSubject(): Promise<Subject> {
  const key = process.env.STRIPE_TEST_KEY!;
  if (!/^(sk|rk)_test_/.test(key)) throw new Error('STRIPE_TEST_KEY must be a key of the test mode');
  const setting = { url: 'https://api.stripe.com', allowed: [] };
  return { tax: new StripeTax({ ...setting, key }), stranger: new StripeTax({ ...setting, key: 'sk_test_nobody' }), stop: async () => {} };
}

/** One suite for both; without STRIPE_TEST_KEY the second is not registered, and nothing here claims that it ran. */
const SUBJECTS: readonly [string, () => Promise<Subject>][] = [
  ['Stripe Tax against its double', doubleSubject],
  ...(process.env.STRIPE_TEST_KEY ? [['Stripe Tax in test mode', testModeSubject] as [string, () => Promise<Subject>]] : []),
];

const line = (reference: string, amount: number, more: Partial<TaxableLine> = {}): TaxableLine => ({
  reference,
  category: 'standard',
  amount,
  quantity: 1,
  taxInclusive: false,
  ...more,
});

describe.each(SUBJECTS)('%s', (_name, start) => {
  let subject: Subject;
  beforeAll(async () => void (subject = await start()));
  afterAll(() => subject.stop());

  test('taxes come by line, in the order in which they were asked, never more than the amount', async () => {
    const { amounts, lines } = await subject.tax.quote(HOME, 'USD', [line('a', 10_000), line('b', 2_000), line('c', 0)]);
    expect(lines.map(one => one.amount)).toEqual(amounts);
    expect(amounts).toHaveLength(3);
    expect(amounts[2]).toBe(0);
    for (const [at, most] of [10_000, 2_000].entries()) expect(amounts[at]).toBeLessThan(most);
    expect(amounts[0]).toBeGreaterThanOrEqual(amounts[1]!);
  });

  test('a line names where it is taxed, by what and at which rate', async () => {
    const { lines } = await subject.tax.quote(HOME, 'USD', [line('a', 10_000)]);
    expect(lines[0]).toMatchObject({ jurisdiction: expect.stringMatching(/^us(-ca)?$/), name: expect.any(String) });
    expect(Number.isSafeInteger(lines[0]!.ppm)).toBe(true);
  });

  test('an amount that holds its tax is taxed by less than one that does not', async () => {
    const { amounts } = await subject.tax.quote(HOME, 'USD', [line('in', 10_000, { taxInclusive: true }), line('out', 10_000)]);
    expect(amounts[1] === 0 || amounts[0]! < amounts[1]!).toBe(true); // 0: the account of the test mode collects no tax there
  });

  test('a category that has no code is taxed as a standard one', async () => {
    const { amounts } = await subject.tax.quote(HOME, 'USD', [line('a', 5_000, { category: 'odd' }), line('b', 5_000)]);
    expect(amounts[0]).toBe(amounts[1]);
  });

  test('a key that is not known is an error, never a tax of nothing', async () => {
    await expect(subject.stranger.quote(HOME, 'USD', [line('a', 100)])).rejects.toThrow('Stripe Tax answered with 401');
  });
});
