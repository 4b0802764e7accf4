/** Calls `work` now, or after the first pause, and again after each, never twice at once; the stop waits for the one that runs. */
export function repeat(work: () => Promise<void>, pauseMs: number, first: 'now' | 'later' = 'now'): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const round = (): void => {
    running = work().finally(() => {
      if (!stopped) timer = setTimeout(round, pauseMs);
    });
  };
  if (first === 'now') round();
  else timer = setTimeout(round, pauseMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
