import type pg from 'pg';

const SETTINGS = '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c jit=off';

/**
 * Makes the machinery's connections walk along indexes. Log and queue grow from nothing faster than statistics follow, and a plan that is
 * cached on an empty table scans or sorts a full one: with 8,000 events waiting, a read of 50 took 7.7 ms instead of 0.3.
 * Where no index fits, the plan counts as so expensive that a server with LLVM would compile it, 28 ms at each run of a lease's.
 */
export function planWithIndexes({ options }: pg.Pool): void {
  if (!options.options?.includes(SETTINGS)) options.options = `${options.options ?? ''} ${SETTINGS}`.trim();
}
