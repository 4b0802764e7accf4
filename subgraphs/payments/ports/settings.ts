import { hkdfSync } from 'node:crypto';
import type { Config } from '../../../runtime/config.js';
import { PaymentProcessor } from '../entities/enums-payment.js';

/** What the environment sets for the processor. Source: section 8, settings. */
export interface ProcessorSettings {
  processor: PaymentProcessor.SANDBOX | PaymentProcessor.STRIPE;
  /** Base URL of the sandbox's own process; null: it runs embedded. */
  sandboxUrl: string | null;
  /** Key of the sandbox's API; both sides derive it from the first secret. */
  sandboxKey: string;
  stripeSecretKey: string | null;
  /** Secrets of the inbound webhook, the newest first; two while one is replaced. */
  webhookSecrets: Readonly<Record<PaymentProcessor.SANDBOX | PaymentProcessor.STRIPE, readonly string[]>>;
}

const MAX_SECRETS = 2;
const derived = (root: string, name: string): string => Buffer.from(hkdfSync('sha256', root, 'payments', name, 32)).toString('base64url');

function listOf(config: Config, name: string): string[] {
  const secrets = (config.setting(name) ?? '')
    .split(',')
    .map(one => one.trim())
    .filter(Boolean);
  if (secrets.length > MAX_SECRETS) throw new Error(`${name} must hold at most ${MAX_SECRETS} secrets, separated by commas`);
  return secrets;
}

function processorOf(config: Config): ProcessorSettings['processor'] {
  const name = config.setting('PAYMENTS_PROCESSOR') ?? PaymentProcessor.SANDBOX;
  if (name === PaymentProcessor.SANDBOX || name === PaymentProcessor.STRIPE) return name;
  throw new Error('PAYMENTS_PROCESSOR must be one of sandbox, stripe');
}

/** Secrets of the sandbox's calls; in development derived from the encryption keys, which all processes share. */
function sandboxSecrets(config: Config, isUsed: boolean): string[] {
  const secrets = listOf(config, 'PAYMENTS_WEBHOOK_SECRETS');
  if (secrets.length > 0 || !isUsed) return secrets;
  if (config.production) throw new Error('PAYMENTS_WEBHOOK_SECRETS is not set, and the sandbox signs with it');
  return [derived(config.encryptionKeys ?? '', 'webhook')];
}

function requireStripe(key: string | null, secrets: readonly string[]): void {
  if (key === null) throw new Error('STRIPE_SECRET_KEY is not set, and PAYMENTS_PROCESSOR is stripe');
  if (secrets.length === 0) throw new Error('STRIPE_WEBHOOK_SECRETS is not set, and PAYMENTS_PROCESSOR is stripe');
}

/** Settings of the processor. @throws Error naming the variable that is wrong or missing. */
export function readProcessorSettings(config: Config): ProcessorSettings {
  const processor = processorOf(config);
  const [stripeSecretKey, stripe] = [config.setting('STRIPE_SECRET_KEY') ?? null, listOf(config, 'STRIPE_WEBHOOK_SECRETS')];
  if (processor === PaymentProcessor.STRIPE) requireStripe(stripeSecretKey, stripe);
  const sandbox = sandboxSecrets(config, processor === PaymentProcessor.SANDBOX);
  return {
    processor,
    sandboxUrl: config.setting('PAYMENTS_SANDBOX_URL')?.replace(/\/+$/, '') ?? null,
    sandboxKey: derived(sandbox[0] ?? '', 'sandbox-api'),
    stripeSecretKey,
    webhookSecrets: { sandbox, stripe },
  };
}
