import { SLOTS } from '../envelope.js';
import { partitionOf } from './port.js';

/** The slots of a partition queue. */
export const slotsOf = (partition: number, partitions: number): number[] =>
  Array.from({ length: SLOTS }, (_, slot) => slot).filter(slot => partitionOf(slot, partitions) === partition);
