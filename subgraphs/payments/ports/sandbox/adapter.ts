import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { sameSecret } from '../../../../runtime/data/crypto.js';
import { PaymentProcessor } from '../../entities/enums-payment.js';
import { declineCategory } from '../../rules/decline.js';
import { isTimely, parseSignature } from '../../rules/webhook-signature.js';
import type {
  ChargeReference,
  HeaderReader,
  HostedPage,
  NoticeRefusal,
  Processor,
  ProcessorCall,
  ProcessorNotice,
  ProcessorObject,
  ProcessorResult,
} from '../processor.js';
import type { Action } from './actions.js';

/** Over everything: connection, answer and body; longer than a call that gets no answer. */
const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 1_048_576;
/** Errors after which the sandbox has certainly not been asked. */
const NOT_ASKED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
const OBJECTS: readonly string[] = ['charge', 'refund', 'dispute', 'payout'] satisfies ProcessorObject[];

/** Instants of the wire as dates: every key that ends with `At`. */
const revive = (name: string, value: unknown): unknown => (name.endsWith('At') && typeof value === 'string' ? new Date(value) : value);

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer of the sandbox is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export interface SandboxAdapterSetting {
  /** Where the sandbox is; it may still be starting. */
  url(): Promise<string>;
  key: string;
}

/** The sandbox as payments sees it: over HTTP, however near it runs. */
export class SandboxProcessor implements Processor {
  readonly name = PaymentProcessor.SANDBOX;

  constructor(private readonly setting: SandboxAdapterSetting) {}

  async #post(path: string, body: object): Promise<{ status: number; text: string }> {
    const answer = await request(`${await this.setting.url()}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.setting.key}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    return { status: answer.statusCode, text: await textOf(answer.body) };
  }

  async #run<Data>(operation: string, input: object, { idempotencyKey }: ProcessorCall): Promise<ProcessorResult<Data>> {
    try {
      const { status, text } = await this.#post(`/v1/operations/${operation}`, { input, key: idempotencyKey });
      if (status === 200) return JSON.parse(text, revive) as ProcessorResult<Data>;
      if (status >= 500) return { status: 'unknown', wasAsked: true };
      return { status: 'declined', decline: { code: 'processor_error', category: declineCategory('processor_error') }, data: null };
    } catch (error) {
      return { status: 'unknown', wasAsked: !NOT_ASKED.has((error as { code?: string }).code ?? '') };
    }
  }

  ensureCustomer: Processor['ensureCustomer'] = ({ userId, brandId }, call) => this.#run('ensureCustomer', { userId, brandId }, call);
  deleteCustomer: Processor['deleteCustomer'] = (input, call) => this.#run('deleteCustomer', input, call);
  attachMethod: Processor['attachMethod'] = (input, call) => this.#run('attachMethod', input, call);
  detachMethod: Processor['detachMethod'] = (input, call) => this.#run('detachMethod', input, call);
  listMethods: Processor['listMethods'] = (input, call) => this.#run('listMethods', input, call);
  charge: Processor['charge'] = (input, call) => this.#run('charge', input, call);
  capture: Processor['capture'] = (input, call) => this.#run('capture', input, call);
  cancel: Processor['cancel'] = (input, call) => this.#run('cancel', input, call);
  retrieveCharge: Processor['retrieveCharge'] = (reference: ChargeReference, call) => this.#run('retrieveCharge', reference, call);
  refund: Processor['refund'] = (input, call) => this.#run('refund', input, call);
  retrieveRefund: Processor['retrieveRefund'] = (reference, call) => this.#run('retrieveRefund', reference, call);
  describeDestination: Processor['describeDestination'] = (input, call) => this.#run('describeDestination', input, call);
  createPayout: Processor['createPayout'] = (input, call) => this.#run('createPayout', input, call);
  retrievePayout: Processor['retrievePayout'] = (reference, call) => this.#run('retrievePayout', reference, call);
  cancelPayout: Processor['cancelPayout'] = (input, call) => this.#run('cancelPayout', input, call);
  submitEvidence: Processor['submitEvidence'] = ({ disputeId }, call) => this.#run('submitEvidence', { disputeId }, call);
  acceptDispute: Processor['acceptDispute'] = (input, call) => this.#run('acceptDispute', input, call);
  retrieveDispute: Processor['retrieveDispute'] = (reference, call) => this.#run('retrieveDispute', reference, call);
  listBalanceTransactions: Processor['listBalanceTransactions'] = (input, call) => this.#run('listBalanceTransactions', input, call);

  /** The sandbox has no pages: payments shows its own. */
  createHostedCheckout: Processor['createHostedCheckout'] = ({ pageUrl }, { idempotencyKey }) => page(idempotencyKey, pageUrl);
  createPortal: Processor['createPortal'] = ({ pageUrl }, { idempotencyKey }) => page(idempotencyKey, pageUrl);

  /** Acts in the place of customer, bank and processor. @throws Error where the sandbox cannot be reached. */
  async act(action: Action): Promise<boolean> {
    const { status, text } = await this.#post('/v1/actions', action);
    if (status !== 200) throw new Error(`the sandbox answered ${status}`);
    return (JSON.parse(text) as { done: boolean }).done;
  }

  verifyWebhook(rawBody: Buffer, header: HeaderReader, secrets: readonly string[], now: Date): ProcessorNotice | NoticeRefusal {
    const signature = parseSignature(header('processor-signature'));
    if (!signature || !isTimely(signature.seconds, now)) return 'signature';
    const wanted = secrets.map(secret => createHmac('sha256', secret).update(`${signature.timestamp}.`).update(rawBody).digest('hex'));
    const matches = signature.signatures.flatMap(given => wanted.map(one => sameSecret(given, one)));
    return matches.includes(true) ? (noticeOf(rawBody) ?? 'malformed') : 'signature';
  }

  parseNotice(rawBody: Buffer): ProcessorNotice | null {
    return noticeOf(rawBody);
  }
}

const page = async (id: string, url: string): Promise<ProcessorResult<HostedPage>> => ({
  status: 'succeeded',
  data: { id, url, expiresAt: null },
});

function parsed(rawBody: Buffer): any {
  try {
    return JSON.parse(rawBody.toString('utf8'));
  } catch {
    return null;
  }
}

function noticeOf(rawBody: Buffer): ProcessorNotice | null {
  const { id, type, created, data } = (parsed(rawBody) ?? {}) as Record<string, any>;
  if (typeof id !== 'string' || typeof type !== 'string' || !Number.isSafeInteger(created)) return null;
  const { kind, id: objectId } = (data?.object ?? {}) as Record<string, unknown>;
  const isOurs = OBJECTS.includes(String(kind)) && typeof objectId === 'string';
  return { id, type, object: isOurs ? { kind: kind as ProcessorObject, id: objectId } : null, createdAt: new Date(created * 1000) };
}
