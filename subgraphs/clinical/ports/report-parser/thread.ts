import { Worker } from 'node:worker_threads';

/** A file that no repetition will make readable. */
export class ReportUnreadable extends Error {
  constructor(readonly failureCode: string) {
    super(failureCode);
  }
}

/** A thread that was ended or died: on a quieter machine the same file may be readable. */
export class ReaderDied extends Error {
  constructor(readonly failureCode: 'too_slow' | 'out_of_memory' | 'parser_died') {
    super(failureCode);
  }
}

/** Limits of a parse. Source: clinical 7.3.5. */
const LIMITS = { deadlineMs: 60_000, mostMb: 512 };

const faultOf = (error: unknown): Error =>
  (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ReaderDied('out_of_memory') : new ReportUnreadable('unreadable');

/** The first message of a thread, read with a deadline and a limit of memory. @throws ReportUnreadable for what the thread throws, ReaderDied where it is ended. */
export function inThread<T>(script: URL, workerData: unknown, { deadlineMs, mostMb } = LIMITS): Promise<T> {
  const thread = new Worker(script, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: mostMb },
    stderr: true,
    stdout: true,
    env: {},
  });
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    void thread.terminate();
  }, deadlineMs);
  return new Promise<T>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', error => reject(faultOf(error)));
    thread.once('exit', () => reject(new ReaderDied(isLate ? 'too_slow' : 'parser_died')));
  }).finally(() => {
    clearTimeout(deadline);
    void thread.terminate();
  });
}
