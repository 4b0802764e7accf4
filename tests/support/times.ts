import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';

/** What a file cost: `TEST_TIMES` names a file that gets a line of JSON for each. CPU is the worker's own, without servers and child processes. */
export interface FileTimes {
  file: string;
  wallMs: number;
  cpuMs: number;
  /** Platforms that it started, and what their starts took of both. */
  starts: number;
  /** Those of them that started named services: with more services they cost little more. */
  named: number;
  startWallMs: number;
  startCpuMs: number;
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

let [began, cpuBefore] = [0, 0];
const NONE = { starts: 0, named: 0, startWallMs: 0, startCpuMs: 0 };
let started = NONE;

export function beginFile(): void {
  [began, cpuBefore] = [performance.now(), cpuMs()];
  started = NONE;
}

/** Counts the start of a platform. @param isNamed whether of named services. */
export async function timedStart<T>(start: () => Promise<T>, isNamed: boolean): Promise<T> {
  const [at, cpu] = [performance.now(), cpuMs()];
  const result = await start();
  started = {
    starts: started.starts + 1,
    named: started.named + (isNamed ? 1 : 0),
    startWallMs: started.startWallMs + performance.now() - at,
    startCpuMs: started.startCpuMs + cpuMs() - cpu,
  };
  return result;
}

export function endFile(): void {
  const to = process.env.TEST_TIMES;
  if (!to) return;
  const file = expect.getState().testPath!.replace(/^.*\/tests\//, 'tests/');
  const times: FileTimes = { file, wallMs: performance.now() - began, cpuMs: cpuMs() - cpuBefore, ...started };
  appendFileSync(to, `${JSON.stringify(times)}\n`);
}
