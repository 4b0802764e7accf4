import { AsyncLocalStorage } from 'node:async_hooks';

/** Epoch ms that the engine takes for now; nothing is stored outside identity's handlers. */
const engineTime = new AsyncLocalStorage<number>();
const system = Date.now.bind(Date);
let installed = false;

/** The system's clock, whatever the engine sees. */
export const systemTime = (): number => system();

/**
 * The engine reads `Date.now`. With `CLOCK=manual` it is made to ask a store that only identity's handlers set, so no other service
 * of the process is moved. Never called in production. Source: identity 7, rule 5.
 */
export function installEngineClock(): void {
  if (installed) return;
  installed = true;
  Date.now = () => engineTime.getStore() ?? system();
}

/** Runs the engine at an instant; null: the system's time. */
export const atEngineTime = <T>(now: Date | null, work: () => T): T => (now === null ? work() : engineTime.run(now.getTime(), work));

/** Runs what belongs to the whole process, such as hints, by the system's time. */
export const outsideEngine = <T>(work: () => T): T => engineTime.exit(work);
