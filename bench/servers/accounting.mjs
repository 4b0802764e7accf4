/**
 * A process of the platform for the benchmark of accounting, driven by messages of its parent: books by the engine as POST /v1/transactions does
 * behind its validation. Roles and addresses are its environment's, as everywhere.
 */
import { startPlatform } from '../../dist/gateway/composition/platform.js';
import { loadConfig } from '../../dist/runtime/config.js';
import { systemCaller } from '../../dist/runtime/request/caller.js';
import { seal } from '../../dist/subgraphs/accounting/commands/sealing.js';
import { ledgerOf } from '../../dist/subgraphs/accounting/ports/postgres/engine.js';
import { verifyChain } from '../../dist/subgraphs/accounting/queries/verification.js';
import { SERVICES } from '../../dist/subgraphs/services.js';
import { v7 } from 'uuid';
import { answer } from './answering.mjs';

/** The same users in every run: 48 bits of their number at the end. */
const userOf = number => `0190b3a0-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
const walletOf = number => `liabilities:wallet:cash:${userOf(number)}:usd`;
const origin = { caller: systemCaller('accounting'), actor: 'system:bench', requestId: null, causationId: null, traceparent: null };

const postingOf = (from, to, amount) => ({
  kind: 'direct',
  source: { service: 'accounting', type: 'bench', id: v7() },
  ruleVersion: null,
  description: 'bench',
  userId: null,
  effectiveAt: null,
  expiresAt: null,
  metadata: {},
  entries: [
    { accountCode: from, direction: 'debit', amount, currency: 'USD' },
    { accountCode: to, direction: 'credit', amount, currency: 'USD' },
  ],
  late: null,
  isFact: false,
  resolves: null,
  reverses: null,
  requestHash: null,
  origin,
  audit: null,
});

/** Numbers below `count` by Zipf's law: the k-th as often as 1 / k^exponent. */
function zipf(count, exponent) {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let at = 0; at < count; at++) sums[at] = sum += (at + 1) ** -exponent;
  return () => {
    const wanted = Math.random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Opens wallets, and gives each money from the bank. */
async function fund(host, { accounts }) {
  for (let at = 0; at < accounts; at += 500) {
    const some = Array.from({ length: Math.min(500, accounts - at) }, (_, more) =>
      postingOf('assets:bank:usd', walletOf(at + more), 1_000_000),
    );
    await ledgerOf(host).post(some);
  }
}

/** Transfers for a time, so many at once; of `hot` a share leaves or reaches wallet 0, which has a floor of 0. */
async function transfers(host, { accounts, exponent, hot = 0, seconds, atOnce = 2_000 }) {
  const pick = zipf(accounts, exponent);
  const end = performance.now() + seconds * 1000;
  const seen = { created: 0, rejected: 0 };
  const engine = ledgerOf(host);
  const one = async () => {
    while (performance.now() < end) {
      const [a, b] = [Math.random() < hot ? 0 : pick(), pick()];
      const to = a === b ? (b + 1) % accounts : b;
      const [from, into] = Math.random() < 0.5 ? [a, to] : [to, a];
      const [{ outcome }] = await engine.post([postingOf(walletOf(from), walletOf(into), 1)]);
      seen[outcome]++;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: atOnce }, one));
  return { ...seen, ms: performance.now() - started };
}

async function verified(host) {
  await seal(host);
  const started = performance.now();
  const found = await host.read(ctx => verifyChain(ctx, null, null));
  return { ...found, ms: performance.now() - started };
}

const platform = await startPlatform({ config: loadConfig(process.env), services: SERVICES });
const host = platform.hosts.get('accounting');
answer(platform, {
  fund: order => fund(host, order),
  transfers: order => transfers(host, order),
  verify: () => verified(host),
  users: ({ count }) => Array.from({ length: count }, (_, at) => userOf(at)),
});
