/** The static checks of `npm run check`; `npm test` runs the first two. Exit code 1 when one of them finds something. */
import { spawnSync } from 'node:child_process';
import { delimiter, join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

/** Environment in which the packages' programs, and the Node that they ask for, are this checkout's. */
export const ENV = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}` };

const TYPES = { name: 'types', command: ['tsc', '-p', 'tests'] };
const LINT = { name: 'lint', command: ['oxlint'] };
const FORMAT = { name: 'format', command: ['prettier', '--check', '--log-level=warn', '**/*.{ts,mjs}', '*.json'] };

export const FAST_CHECKS = [TYPES, LINT];
const ALL_CHECKS = [...FAST_CHECKS, FORMAT];

/** Runs the checks with their output shown. Returns the names of those that failed. */
export function failedChecks(checks) {
  const passes = ({ name, command: [program, ...args] }) => {
    console.log(`== ${name}: ${program} ${args.join(' ')}`);
    return spawnSync(join(BIN, program), args, { cwd: ROOT, env: ENV, stdio: 'inherit' }).status === 0;
  };
  return checks.filter(check => !passes(check)).map(check => check.name);
}

if (import.meta.main) {
  const failed = failedChecks(ALL_CHECKS);
  console.log(failed.length ? `failed: ${failed.join(', ')}` : 'all checks pass');
  process.exitCode = failed.length ? 1 : 0;
}
