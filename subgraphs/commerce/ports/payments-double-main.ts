/** The double of payments as a process of its own, at COMMERCE_PAYMENTS_URL; not in production. Source: commerce 8. */
import { withDevelopmentSecrets } from '../../../runtime/access/development-secrets.js';
import { loadConfig } from '../../../runtime/config.js';
import { createLogger } from '../../../runtime/observe/log.js';
import { doubleKey } from './payments-double.js';
import { startDouble } from './payments-double-server.js';

const config = loadConfig(await withDevelopmentSecrets(process.env));
const address = config.setting('COMMERCE_PAYMENTS_URL');
const databaseUrl = config.databaseUrls.commerce ?? config.databaseUrl;
if (config.production) throw new Error('the double of payments is for development and tests');
if (address === undefined || databaseUrl === null)
  throw new Error('COMMERCE_PAYMENTS_URL and DATABASE_URL must be set for a double of payments of its own');
const { hostname, port } = new URL(address);
const running = await startDouble({
  databaseUrl,
  key: doubleKey(config.encryptionKeys ?? ''),
  port: Number(port || 80),
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  log: createLogger(config.logLevel),
});
process.stdout.write(`Ready in ${Math.round(performance.now())} ms: the double of payments at ${running.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void running.stop().then(() => process.exit(0)));
