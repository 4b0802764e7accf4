/**
 * `npm run test:modes`: the tests of the REST and GraphQL APIs three times, once in each way in which the gateway can run an operation:
 * by @apollo/gateway's own executor with graphql-js in the services, compiled with the services in process, compiled with the services
 * called over the network.
 * They run on embedded PostgreSQL and transport: a server's 100 connections are too few for all of them.
 * `npm run test:modes -- tests/clinical` takes other folders. The last line is `N passed, N failed` over all three.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { EMBEDDED } from './backends.ts';
import { ENV, ROOT } from './check.mjs';

const MODES = {
  'stock executors': { GATEWAY_EXECUTOR: 'stock', SUBGRAPH_EXECUTOR: 'stock' },
  'compiled, in process': {},
  'compiled, over the network': { SUBGRAPH_CALLS: 'http' },
};
const FOLDERS = ['tests/gateway', 'tests/rest-adapter', 'tests/house', 'tests/platform'];

/** Counts of a run's last line. Its output is passed on as it comes. */
async function countsOf(folders, env) {
  const child = spawn(process.execPath, [join(ROOT, 'scripts/test.mjs'), ...folders], {
    env: { TEST_DATABASE_URL: EMBEDDED, TEST_AMQP_URL: EMBEDDED, ...ENV, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', chunk => {
    process.stdout.write(chunk);
    text = (text + chunk).slice(-10_000);
  });
  const code = await new Promise(done => child.once('close', done));
  const [, passed = 0, failed = 0] = (/(\d+) passed, (\d+) failed\s*$/.exec(text) ?? []).map(Number);
  return { passed, failed: failed || (code === 0 && passed > 0 ? 0 : 1) };
}

const folders = process.argv.length > 2 ? process.argv.slice(2) : FOLDERS;
const total = { passed: 0, failed: 0 };
const lines = [];
for (const [mode, env] of Object.entries(MODES)) {
  console.log(`\n==== ${mode}`);
  const { passed, failed } = await countsOf(folders, env);
  lines.push(`${mode}: ${passed} passed, ${failed} failed`);
  total.passed += passed;
  total.failed += failed;
}
console.log(`\n${lines.join('\n')}\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
