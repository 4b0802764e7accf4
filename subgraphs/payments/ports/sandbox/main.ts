/** The sandbox as a process of its own, at the port of PAYMENTS_SANDBOX_URL; it goes on when payments dies. Source: payments 8. */
import { withDevelopmentSecrets } from '../../../../runtime/access/development-secrets.js';
import { loadConfig } from '../../../../runtime/config.js';
import { createLogger } from '../../../../runtime/observe/log.js';
import { PaymentProcessor } from '../../entities/enums-payment.js';
import { readProcessorSettings } from '../settings.js';
import { startSandbox } from './server.js';

const config = loadConfig(await withDevelopmentSecrets(process.env));
const { sandboxUrl, sandboxKey, webhookSecrets } = readProcessorSettings(config);
const databaseUrl = config.databaseUrls.payments ?? config.databaseUrl;
if (sandboxUrl === null || databaseUrl === null)
  throw new Error('PAYMENTS_SANDBOX_URL and DATABASE_URL must be set for a sandbox of its own');
const { hostname, port } = new URL(sandboxUrl);
const running = await startSandbox({
  databaseUrl,
  manualClock: config.manualClock,
  baseUrl: config.baseUrl,
  webhookSecret: webhookSecrets[PaymentProcessor.SANDBOX][0]!,
  key: sandboxKey,
  port: Number(port || 80),
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  log: createLogger(config.logLevel),
});
process.stdout.write(`sandbox processor at ${running.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void running.stop().then(() => process.exit(0)));
