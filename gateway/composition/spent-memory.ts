import v8 from 'node:v8';
import vm from 'node:vm';

/** A process that was busy for less than this share of so many ms is at rest. */
const [LOOK_MS, REST] = [5_000, 0.2];

/**
 * By so many % the old generation grows before it is collected again. V8 alone goes on in steps of a tenth from where such a collection ends:
 * 14 collections of all that lives in 60,000 requests instead of 3; REST reads took 1.1 times the CPU of 6936fe4 instead of 1.1 to 1.3.
 */
const GROWTH_PERCENT = 100;

type Collect = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** V8's collector: contexts that are made while the flag is set can call it. Node has no other way. */
function collector(): Collect {
  v8.setFlagsFromString('--expose-gc');
  try {
    return vm.runInNewContext('gc') as Collect;
  } finally {
    v8.setFlagsFromString('--no-expose-gc');
  }
}

/**
 * Gives back what the start has left behind. Modules, schemas and plans leave their garbage all over the heap, and V8 moves what lives together
 * only when memory gets scarce: with eighteen services a process kept 610 MB for ever, and has 390 after this.
 */
function giveBack(): void {
  collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Once after a start or a reload, for it takes a third of a second (on a busy machine two) in which nobody is served: a process that people call waits until it
 * is first at rest, which is after the plans of the REST rows. Others, a service's own process among them, do it before anybody counts on them.
 */
export function giveBackSpentMemory(isCalled: boolean, lookMs = LOOK_MS): void {
  if (!isCalled) return giveBack();
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const isAtRest = performance.eventLoopUtilization(now, before).utilization < REST;
    before = now;
    if (!isAtRest) return;
    clearInterval(timer);
    giveBack();
    v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  }, lookMs);
  timer.unref();
}
