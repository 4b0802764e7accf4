import { RetestCycleStatus as Status } from '../entities/retest-cycle.js';
import { roundHalfEven } from '../entities/rounding.js';

/** Cycles of one status. */
export interface StatusCount {
  status: Status;
  cycles: number;
  /** Sum of days to re-test. */
  days: number;
  organic: number;
  /** With a late follow-up. */
  late: number;
}

/** A filtered cell with fewer closed cycles has no rate and no average. Source: clinical 4.1. */
const SMALLEST_CELL = 5;

const NONE: StatusCount = { status: Status.BASELINE_SET, cycles: 0, days: 0, organic: 0, late: 0 };

/** The go/no-go statistic from the counts per status: rate of retested among closed. Source: spec 1, Re-test cycle 7. */
export function statsOf(tallies: readonly StatusCount[], filtered: boolean) {
  const of = (status: Status): StatusCount => tallies.find(one => one.status === status) ?? NONE;
  const [retested, expired] = [of(Status.RETESTED), of(Status.EXPIRED)];
  const closed = retested.cycles + expired.cycles;
  const hidden = filtered && closed < SMALLEST_CELL;
  return {
    retestRate: closed === 0 || hidden ? null : roundHalfEven(retested.cycles / closed, 4),
    counts: {
      baselineSet: of(Status.BASELINE_SET).cycles,
      prompted: of(Status.PROMPTED).cycles,
      retested: retested.cycles,
      expired: expired.cycles,
    },
    closed,
    averageDaysToRetest: retested.cycles === 0 || hidden ? null : roundHalfEven(retested.days / retested.cycles, 1),
    organicRetested: retested.organic,
    promptedRetested: retested.cycles - retested.organic,
    lateFollowUps: expired.late,
  };
}
