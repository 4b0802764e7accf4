/** Servers and loads as processes, each on a core of its own where the machine can pin them. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Node's options of `npm start`, which a measured platform has too. */
export const START_FLAGS = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  .scripts.start.split(' ')
  .filter(argument => argument.startsWith('--'));

/** Cores. The gateway has one for itself. */
export const [GATEWAY_CORE, OTHER_CORE] = [0, 1];

export const has = program => spawnSync(program, ['--version']).error === undefined;
const canPin = process.platform === 'linux' && has('taskset');
const pinned = (core, command) => (canPin ? ['taskset', '-c', String(core), ...command] : command);

/** Moves this process, and what it starts from now on, to a core. */
export const moveTo = core => canPin && spawnSync('taskset', ['-cp', String(core), String(process.pid)]);

const mortal = new Set();
const killAll = () => mortal.forEach(child => child.kill('SIGKILL'));

/** A process that is not left behind when this one ends by a signal, an error or a closed pipe. */
function withMe(child) {
  if (!process.listeners('exit').includes(killAll)) {
    process.on('exit', killAll);
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  }
  mortal.add(child);
  child.once('exit', () => mortal.delete(child));
  return child;
}

/** Starts Node.js with these arguments. */
export const startNode = (args, options) => withMe(spawn(process.execPath, args, options));

const children = new Set();
const LOG_CHARACTERS = 4_000;

/** Starts a program; `output` holds the end of its output. */
export function run(core, command, { cwd, env } = {}) {
  const [program, ...args] = pinned(core, command);
  const child = withMe(spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] }));
  child.output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', text => (child.output = (child.output + text).slice(-LOG_CHARACTERS)));
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Output of a program that ends. @throws Error with its output when it fails. */
export async function outputOf(core, command, options) {
  const child = run(core, command, options);
  let text = '';
  child.stdout.on('data', more => (text += more));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${child.output}`);
  return text;
}

/** A profile is written at the end. */
const PATIENCE_MS = 15_000;

export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await gone;
  clearTimeout(timer);
}

export const stopAll = () => Promise.all([...children].map(stop));

/** Polls until it holds. @throws Error with the program's output after three minutes, which a start beside other work may take, or when the program has ended. */
export async function untilReady(child, look) {
  for (let tries = 0; tries < 900; tries++) {
    if (child.exitCode !== null) break;
    if (await look().catch(() => false)) return;
    await sleep(200);
  }
  throw new Error(`did not start: ${child.output.slice(-1500)}`);
}

const TICKS_PER_SECOND = 100;

/** CPU that a process has used, ms: user and system time of all its threads; NaN where there is no proc(5). */
export function cpuOf({ pid }) {
  if (process.platform !== 'linux') return NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000;
}

/** Resident memory of a process, MB. */
export const rssOf = ({ pid }) =>
  process.platform === 'linux' ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024 : NaN;
