import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './at-end.js';

const LOCK = join(tmpdir(), 'platform-tests-many-processes.lock');
const AGAIN_MS = 250;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const claim = (): Promise<boolean> =>
  writeFile(LOCK, String(process.pid), { flag: 'wx' }).then(
    () => true,
    () => false,
  );

/** The lock of a run that was killed is nobody's. */
async function forgetDead(): Promise<void> {
  const holder = Number(await readFile(LOCK, 'utf8').catch(() => ''));
  if (holder > 0 && !isAlive(holder)) await rm(LOCK, { force: true });
}

/**
 * Waits until no other test file on this machine has a process for each service, and keeps the others waiting until this one ends: eleven
 * processes take 45 s of CPU to start, and three times as many at once took longer than anything waits for them.
 */
export async function oneAtATime(): Promise<void> {
  while (!(await claim())) {
    await forgetDead();
    await new Promise(resolve => setTimeout(resolve, AGAIN_MS));
  }
  atEnd(() => rm(LOCK, { force: true }));
}
