import type { PushSubscription } from '../../entities/suppression.js';
import type { Outcome, Rendered } from '../../ports/provider.js';
import type { Sending } from './decide.js';

/** A message that is about to leave, as its attempt was committed. */
export interface Call {
  sending: Sending;
  rendered: Rendered;
  attempt: number;
}

/** What came of it. */
export interface Done {
  call: Call;
  outcome: Outcome;
  /** Of a push, by device. */
  devices: readonly { device: PushSubscription; outcome: Outcome }[];
}
