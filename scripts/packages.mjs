/** What the set-up and a release share: npm without the packaged Node, and the link to that Node. Valid on Node 20, without dependencies. */
import { spawn } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How often a long step prints that it is still running, ms. */
const TICK = 5_000;

export const seconds = since => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** PATH without node_modules/.bin: npm itself must not run on the node that it is about to delete. */
const outerPath = () =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter(dir => !dir.replaceAll('\\', '/').endsWith('node_modules/.bin'))
    .join(delimiter);

/** Runs `npm ci` in a folder and says every 5 s that it still does. @returns npm's exit code. @throws Error when npm cannot be run. */
export function npmCi(folder, args, print) {
  const started = Date.now();
  const ticker = setInterval(() => print(`still installing, ${seconds(started)}`), TICK);
  return new Promise((done, failed) => {
    const all = ['ci', ...args, '--no-audit', '--no-fund', '--loglevel=error'];
    const env = { ...process.env, PATH: outerPath() };
    const child = spawn('npm', all, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' });
    child.once('error', error => failed(new Error(`npm could not be run: ${error.message}`)));
    child.once('exit', code => done(code ?? 1));
  }).finally(() => clearInterval(ticker));
}

/** Links the packaged Node: npm 10 removes the link together with those of the other platforms' packages, which have the same name. */
export function linkNode(modules) {
  const link = join(modules, '.bin', 'node');
  const packages = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`];
  const fitting = packages.find(name => existsSync(join(modules, name, 'bin', 'node')));
  if (fitting && !existsSync(link)) symlinkSync(join('..', fitting, 'bin', 'node'), link);
}
