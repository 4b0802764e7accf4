import type { Arrival } from './receivers.js';

/** What is in the database after a run. */
export interface Truth {
  /** Results that are stored: each was committed with one event. */
  stored: readonly string[];
  /** Events of the log in the order of their commits. */
  logged: readonly { id: string; userId: string; about: string }[];
  /** Results that a caller was told are stored. */
  acknowledged: readonly string[];
  /** Events that a consumer of their type has neither handled nor filed. */
  unhandled: number;
  deadLetters: number;
}

export interface Figures {
  lost: number;
  outOfOrder: number;
  badSignatures: number;
  /** Told of although nothing was committed. */
  phantoms: number;
  deadLetters: number;
  /** Requests for an event that the receiver had taken already. */
  duplicates: number;
}

const count = <T>(all: Iterable<T>, which: (one: T) => boolean): number => [...all].filter(which).length;

/** Events of one user at one receiver: an event may come only when all that were committed before it are taken. */
function disorder(expected: readonly string[], arrivals: readonly Arrival[]): number {
  const taken = new Set<string>();
  let [next, found] = [0, 0];
  for (const { eventId, answer } of arrivals) {
    if (!taken.has(eventId) && expected.indexOf(eventId) > next) found++;
    if (answer === 'taken') taken.add(eventId);
    while (next < expected.length && taken.has(expected[next]!)) next++;
  }
  return found;
}

function atReceiver(arrivals: readonly Arrival[], { logged }: Truth): Pick<Figures, 'lost' | 'outOfOrder' | 'phantoms' | 'duplicates'> {
  const known = new Set(logged.map(event => event.id));
  const taken = arrivals.filter(one => one.answer === 'taken');
  const takenIds = new Set(taken.map(one => one.eventId));
  const arrived = logged.filter(event => takenIds.has(event.id)); // what is lost is counted as lost, not as overtaken
  const users = new Set(arrived.map(event => event.userId));
  const disorders = [...users].map(userId =>
    disorder(
      arrived.filter(event => event.userId === userId).map(event => event.id),
      arrivals.filter(one => one.userId === userId),
    ),
  );
  return {
    lost: count(known, id => !takenIds.has(id)),
    outOfOrder: disorders.reduce((sum, one) => sum + one, 0),
    phantoms: count(takenIds, id => !known.has(id)),
    duplicates: taken.length - takenIds.size,
  };
}

/** Compares what was committed with what arrived. */
export function judge(truth: Truth, receivers: readonly (readonly Arrival[])[]): Figures {
  const stored = new Set(truth.stored);
  const toldOf = new Set(truth.logged.map(event => event.about));
  const seen = receivers.map(arrivals => atReceiver(arrivals, truth));
  const sum = (key: 'lost' | 'outOfOrder' | 'phantoms' | 'duplicates'): number => seen.reduce((total, one) => total + one[key], 0);
  return {
    lost: count(stored, id => !toldOf.has(id)) + count(truth.acknowledged, id => !stored.has(id)) + truth.unhandled + sum('lost'),
    outOfOrder: sum('outOfOrder'),
    badSignatures: count(receivers.flat(), one => !one.genuine),
    phantoms: count(toldOf, id => !stored.has(id)) + sum('phantoms'),
    deadLetters: truth.deadLetters,
    duplicates: sum('duplicates'),
  };
}
