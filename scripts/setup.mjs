/**
 * Brings a checkout into a state that can run: the packages of the lock file, Node 24 among them, and `dist`.
 * `npm start` and `npm test` run it first. It has no dependencies and is valid on Node 20, because it runs before anything is installed.
 * Takes about 20 s on an empty checkout and 0.3 s when there is nothing to do. Exit code 1 when the code does not compile.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkNode, npmCi, seconds } from './packages.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const MODULES = join(ROOT, 'node_modules');
/** npm puts this folder first on the PATH, so what follows the set-up runs on this node. */
const PACKAGED_NODE = join(MODULES, '.bin', 'node');
const STAMP = join(MODULES, '.setup-stamp');
const BUILD_INFO = join(MODULES, '.cache', 'tsc.tsbuildinfo');
/** Fingerprint of the sources of which `dist` was made. */
const BUILD_STAMP = join(MODULES, '.cache', 'build-stamp');
const DIST = join(ROOT, 'dist');
/** The oldest Node that can run the platform. */
const NODE_MAJOR = 24;

const print = line => console.log(`set-up: ${line}`);

function stop(line) {
  console.error(`set-up: ${line}`);
  process.exit(1);
}

/** Hash of what decides which packages belong into node_modules here. */
function wanted() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
}

/** Whether node_modules, as npm recorded it at the end of its last run, already holds the lock file: after `npm install x` it does. */
function npmInstalledIt() {
  const record = join(MODULES, '.package-lock.json');
  if (!existsSync(record)) return false;
  const have = JSON.parse(readFileSync(record, 'utf8')).packages;
  const want = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const holds = ([path, { version, integrity, optional }]) =>
    have[path] ? have[path].version === version && have[path].integrity === integrity : optional === true;
  return Object.entries(want)
    .filter(([path]) => path !== '')
    .every(holds);
}

async function install() {
  const started = Date.now();
  print('installing the packages of package-lock.json, about 20 s …');
  // Build and tests need the development packages even where NODE_ENV=production; old Node's engine warnings do not apply to Node 24.
  const code = await npmCi(ROOT, ['--include=dev', '--include=optional'], print).catch(error => stop(error.message));
  if (code !== 0) stop(`npm ci failed with exit code ${code}`);
  print(`packages installed in ${seconds(started)}`);
}

/** The packaged node, or this one where the lock file has none for the platform. Removes a packaged node that cannot run here (musl). */
function nodeToUse() {
  linkNode(MODULES);
  if (existsSync(PACKAGED_NODE)) {
    if (spawnSync(PACKAGED_NODE, ['--version']).status === 0) return PACKAGED_NODE;
    rmSync(PACKAGED_NODE);
  }
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) return process.execPath;
  return stop(`there is no packaged Node for ${process.platform} ${process.arch}: put Node ${NODE_MAJOR} or newer on the PATH`);
}

/** Files under a folder with one of the endings, relative to the root. Folders that are no sources are left out. */
function filesUnder(dir, ending) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && ending.test(entry.name))
    .map(entry => join(entry.parentPath ?? entry.path, entry.name));
}

const sourceFolders = () => JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')).include;

/** Makes dist mirror the sources: a migration whose source is gone must not run, and tsc does not notice an output that is missing. */
function reconcile(sources) {
  const expected = new Set(sources.map(file => join(DIST, relative(ROOT, file)).replace(/\.ts$/, '.js')));
  const present = new Set(filesUnder(DIST, /\.js$/));
  for (const file of present) if (!expected.has(file)) for (const name of [file, `${file}.map`]) rmSync(name, { force: true });
  const complete = [...expected].every(file => present.has(file));
  if (!complete) rmSync(BUILD_INFO, { force: true });
  return complete;
}

/** Hash of which sources there are, how long and how old: an unchanged one spares the compiler's two seconds at every start. */
function fingerprint(sources) {
  const hash = createHash('sha256').update(wanted());
  for (const file of [join(ROOT, 'tsconfig.json'), ...sources]) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function compile(node) {
  const started = Date.now();
  const sources = sourceFolders().flatMap(dir => filesUnder(join(ROOT, dir), /(?<!\.d)\.ts$/));
  const made = fingerprint(sources);
  if (reconcile(sources) && existsSync(BUILD_STAMP) && readFileSync(BUILD_STAMP, 'utf8') === made) return;
  rmSync(BUILD_STAMP, { force: true });
  const { status } = spawnSync(node, [join(MODULES, 'typescript', 'bin', 'tsc'), '-p', ROOT], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) stop('the code does not compile');
  writeFileSync(BUILD_STAMP, made);
  if (Date.now() - started > 2_000) print(`compiled in ${seconds(started)}`);
}

const hash = wanted();
const stamped = existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash;
if (!stamped) {
  if (!npmInstalledIt()) await install();
  mkdirSync(dirname(BUILD_INFO), { recursive: true });
  writeFileSync(STAMP, hash);
}
compile(nodeToUse());
