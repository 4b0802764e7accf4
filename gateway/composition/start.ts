import { loadConfig, type Config } from '../../runtime/config.js';
import { withDevelopmentSecrets } from '../../runtime/access/development-secrets.js';
import { SERVICES } from '../../subgraphs/services.js';
import { lowerPriority } from './background.js';
import { startPlatform, type Platform } from './platform.js';
import { giveBackSpentMemory } from './spent-memory.js';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const DEMO = `
  Demo credentials (made now, for development only):
    machine client   demo-m2m / demo-m2m-secret
    people           demo@example.test, demo2@example.test, admin@example.test / Demo-Passw0rd-2026`;

/** For a process that people do not call: what it runs. */
const ready = ({ roles }: Config, { hosts }: Platform, seconds: string): string =>
  `Ready in ${seconds} s: ${[...(hosts.size ? hosts.keys() : roles)].join(', ')}.`;

const welcome = (config: Config, platform: Platform, seconds: string): string => `
${ready(config, platform, seconds)}

  start page    ${config.baseUrl}/
  GraphQL       ${config.baseUrl}/graphql
  REST          ${config.baseUrl}/<service>/v1/…
  reference     ${config.baseUrl}/docs
  OpenAPI       ${config.baseUrl}/api/openapi.yaml
${platform.seeded ? DEMO : ''}

Try:
  TOKEN=$(curl -s ${config.baseUrl}/identity/v1/oauth/token -d grant_type=client_credentials -d client_id=demo-m2m -d client_secret=demo-m2m-secret | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s ${config.baseUrl}/platform/v1/brands -H "Authorization: Bearer $TOKEN"

Stop with Ctrl-C.`;

/** Longest stop, ms; then the process exits anyway. Below the 30 s after which orchestrators kill it. */
const STOP_MS = 25_000;

/** The first signal stops cleanly, as does the end of a process that started this one with a channel; a second signal ends at once. */
function stopOnSignals(platform: Platform): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    print('Stopping …');
    setTimeout(() => process.exit(1), STOP_MS).unref();
    await platform.stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
  process.once('disconnect', () => void stop());
  if (process.connected === false) void stop(); // it ended before this one was ready
}

async function reload(platform: Platform): Promise<void> {
  try {
    await platform.reload();
    print('Reloaded the supergraph.');
  } catch (error) {
    print(`The supergraph was not reloaded: ${(error as Error).message}`);
  }
  giveBackSpentMemory(true); // what is called goes on being called
}

/** SIGHUP reads the supergraph's file again, as daemons do with their configuration. */
const reloadOnHangup = (platform: Platform): unknown => process.on('SIGHUP', () => void reload(platform));

async function main(): Promise<void> {
  const started = performance.now();
  const config = loadConfig(await withDevelopmentSecrets(process.env));
  print('Platform Service Suite is starting:');
  const platform = await startPlatform({ config, services: SERVICES, print });
  lowerPriority(config.roles);
  stopOnSignals(platform);
  reloadOnHangup(platform);
  const text = config.roles.has('rest') ? welcome : ready;
  print(text(config, platform, ((performance.now() - started) / 1000).toFixed(1)));
  giveBackSpentMemory(config.roles.has('rest'));
}

main().catch((error: Error) => {
  process.stderr.write(
    `\nThe platform could not start: ${error.message}\n${process.env.LOG_LEVEL === 'debug' ? error.stack : 'LOG_LEVEL=debug shows more.'}\n`,
  );
  process.exit(1);
});
