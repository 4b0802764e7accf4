/** Calls `work` now, or after so many ms, and again after each pause, never twice at once; the stop waits for the one that runs. */
export function repeat(work: () => Promise<void>, pauseMs: number, firstMs = 0): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const round = (): void => {
    running = work().finally(() => {
      if (!stopped) timer = setTimeout(round, pauseMs);
    });
  };
  if (firstMs === 0) round();
  else timer = setTimeout(round, firstMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
