import { print, type ExecutionResult, type GraphQLResolveInfo } from 'graphql';
import type { Context } from '../request/context.js';
import { fail, Problem, type ProblemCode, type ProblemOptions } from '../request/errors.js';
import { running, type Intent, type TwoPhases } from '../request/two-phase.js';
import { claimKey, hashOf, identityOf, markReplayed, requireSameHash, type Identity } from './idempotency.js';
import { findLeased, giveUpKey, leaseKey, lockLeased, storeOutcome, takeOver, type LeasedKey } from './leased-keys.js';
import { inTransaction } from './transaction.js';

type Run = () => Promise<ExecutionResult>;

/** What the first run of an operation throws, after the call: `finish` runs the document again, in transaction 2, or replays its answer. */
class SecondPhase extends Error {
  constructor(readonly finish: (run: Run) => Promise<ExecutionResult>) {
    super('the second transaction is to follow');
  }
}

/** The answer to a document: where its operation has two phases, that of transaction 2. */
export async function completed(first: ExecutionResult, run: Run): Promise<ExecutionResult> {
  const cause = first.errors?.[0]?.originalError;
  return cause instanceof SecondPhase ? cause.finish(run) : first;
}

interface Operation {
  readonly phases: TwoPhases<unknown, unknown>;
  readonly args: unknown;
  readonly info: GraphQLResolveInfo;
}

interface Claim {
  readonly intent: Intent;
  /** The key, and until when it is ours; null without an `Idempotency-Key`. */
  readonly lease: { readonly identity: Identity; readonly until: string } | null;
}

/** What is stored: the answer of the document, or the problem that was the outcome. */
type Body = Pick<ExecutionResult, 'data'> | { problem: { code: ProblemCode; detail: string; options: ProblemOptions } };

const contextOf = (identity: Identity): string => identity.join('\n');

function replay(ctx: Context, identity: Identity, { status, answer }: Pick<LeasedKey, 'status' | 'answer'>): ExecutionResult {
  markReplayed(ctx, status);
  const body = JSON.parse(ctx.host.sealer.open(answer!, contextOf(identity))) as Body;
  if ('problem' in body) throw new Problem(body.problem.code, body.problem.detail, body.problem.options);
  return body;
}

/** The arguments with the selection: what is replayed has the fields that the first request asked for. */
const hashOfDocument = ({ operation, fragments, variableValues }: GraphQLResolveInfo): Buffer =>
  hashOf([print(operation.selectionSet), Object.values(fragments).map(print), variableValues]);

async function intend(ctx: Context, { phases, args, info }: Operation): Promise<Intent> {
  const id = await phases.intend(ctx, args);
  if (ctx.audits.length === 0) ctx.audit(`${info.fieldName}.intended`, id);
  return { id, isResumed: false };
}

/** Transaction 1. @throws Problem conflict while another request has the lease; idempotency_mismatch for the same key with another body. */
async function claim(ctx: Context, operation: Operation): Promise<Claim | ExecutionResult> {
  const identity = identityOf(ctx, operation.info.fieldName, String(operation.info.path.key));
  if (identity === null) return { intent: await intend(ctx, operation), lease: null };
  await claimKey(ctx, identity);
  const [known, hash] = [await findLeased(ctx, identity), hashOfDocument(operation.info)];
  if (known) return resume(ctx, identity, known, hash);
  const intent = await intend(ctx, operation);
  return { intent, lease: { identity, until: await leaseKey(ctx, identity, hash, intent.id) } };
}

async function resume(ctx: Context, identity: Identity, known: LeasedKey, hash: Buffer): Promise<Claim | ExecutionResult> {
  requireSameHash(known.hash, hash);
  if (known.answer) return replay(ctx, identity, known);
  if (known.isLeased) fail('conflict', 'A request with this Idempotency-Key is running');
  return { intent: { id: known.intentId, isResumed: true }, lease: { identity, until: await takeOver(ctx, identity) } };
}

/** The first run of an operation: transaction 1, then the call. What it answers is to be thrown, so that {@link completed} goes on. */
export async function firstRun(ctx: Context, operation: Operation): Promise<Error> {
  const { phases, info } = operation;
  if (info.operation.selectionSet.selections.length > 1) fail('invalid_request', `${info.fieldName} must be alone in its document`);
  const claimed = await inTransaction(ctx, () => claim(ctx, operation));
  if (!('intent' in claimed)) return new SecondPhase(async () => claimed);
  ctx.em.clear(); // the rows may change during the call
  ctx.loaders.clear();
  const outcome = await phases.call(ctx, claimed.intent);
  return new SecondPhase(run => {
    running.set(ctx, { phases, intent: claimed.intent, outcome });
    return settle(ctx, operation, claimed, run).finally(() => running.delete(ctx));
  });
}

/** Whether an operation runs for the second time, in transaction 2. */
export const isSecondRun = (ctx: Context, phases: object): boolean => running.get(ctx)?.phases === phases;

/** The second run of an operation: its outcome, written before its nested fields are read. */
export async function secondRun(ctx: Context, work: () => Promise<unknown>): Promise<unknown> {
  const answer = await work();
  await ctx.em.flush();
  if (!(answer instanceof Problem)) return answer;
  running.get(ctx)!.refusal = answer;
  throw answer;
}

/** Transaction 2: the outcome, and the document's answer stored with it. */
async function settle(ctx: Context, { info }: Operation, claimed: Claim, run: Run): Promise<ExecutionResult> {
  let failed: ExecutionResult | undefined;
  const work = async (): Promise<ExecutionResult> => {
    const earlier = await earlierAnswer(ctx, claimed);
    if (earlier) return earlier;
    const result = await run();
    if (!isOutcome(ctx, result)) throw (failed = result).errors![0]!;
    if (ctx.audits.length === 0) ctx.audit(info.fieldName, claimed.intent.id);
    await store(ctx, claimed, result);
    return result;
  };
  return inTransaction(ctx, work).catch(error => failed ?? Promise.reject(error as Error));
}

/** Where the call outlasted the lease, another request has gone on with the intent. @throws Problem conflict unless it has the outcome already. */
async function earlierAnswer(ctx: Context, { lease }: Claim): Promise<ExecutionResult | null> {
  if (!lease) return null;
  const held = await lockLeased(ctx, lease.identity, lease.until);
  if (held?.isOurs) return null;
  return held?.answer ? replay(ctx, lease.identity, held) : fail('conflict', 'Another request has gone on with this Idempotency-Key');
}

/** Whether the second run may commit. A resumed call that did not arrive says nothing about the first one, which may have. */
function isOutcome(ctx: Context, { data, errors = [] }: ExecutionResult): boolean {
  const { refusal, intent } = running.get(ctx)!;
  if (refusal) return !(intent.isResumed && refusal.code === 'unavailable');
  return data != null && errors.every(error => (error.path?.length ?? 0) > 1);
}

/** Problems that are no outcome: the key is given up, and its next use begins a new intent. Source: payments 7.4. */
const GIVES_UP: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['invalid_request', 'conflict', 'unavailable']);

async function store(ctx: Context, { lease }: Claim, { data }: ExecutionResult): Promise<void> {
  if (!lease) return;
  const { refusal } = running.get(ctx)!;
  if (refusal && GIVES_UP.has(refusal.code)) return void (await giveUpKey(ctx, lease.identity));
  const { cause: _, ...options } = refusal?.options ?? {};
  const body: Body = refusal ? { problem: { code: refusal.code, detail: refusal.message, options } } : { data };
  await storeOutcome(ctx, lease.identity, ctx.host.sealer.seal(JSON.stringify(body), contextOf(lease.identity)));
}
