/** Polls until a condition holds; for what other parts do in the background. @throws Error naming what was waited for. */
export async function until<T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean, timeoutMs = 40_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}; last seen: ${JSON.stringify(value)?.slice(0, 500)}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}
