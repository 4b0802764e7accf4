import { describe, expect, test } from 'vitest';
import { inThread } from '../../subgraphs/clinical/ports/report-parser/thread.js';

const script = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const GENEROUS = { deadlineMs: 60_000, mostMb: 64 };

describe('a parser runs in a thread of its own', () => {
  test('whose first word is what was read', async () => {
    const answering = script(`import { parentPort, workerData } from 'node:worker_threads'; parentPort.postMessage(workerData + 1);`);
    expect(await inThread<number>(answering, 1, GENEROUS)).toBe(2);
  });

  const faultOf = async (text: string, limits: typeof GENEROUS): Promise<string[]> => {
    const error = await inThread(script(text), null, limits).catch((fault: unknown) => fault as { failureCode: string });
    return [error!.constructor.name, (error as { failureCode: string }).failureCode];
  };

  test('one that hangs is ended at its deadline, and may be tried again', async () => {
    expect(await faultOf('for (;;);', { ...GENEROUS, deadlineMs: 200 })).toEqual(['ReaderDied', 'too_slow']);
  });

  test('one that leaves without a word has died, and may be tried again', async () => {
    expect(await faultOf('process.exit(0);', GENEROUS)).toEqual(['ReaderDied', 'parser_died']);
  });

  test('what it cannot read is unreadable, however often it is tried', async () => {
    expect(await faultOf('throw new Error("broken")', GENEROUS)).toEqual(['ReportUnreadable', 'unreadable']);
  });
});
