import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliest } from '../../runtime/time/due.js';
import { expireDue } from './commands/expiry.js';
import { recogniseDue } from './commands/recognition.js';

/** Pending transactions lapse. */
const expiry: Timer<Context> = {
  name: 'accounting.expiry',
  everySeconds: 5,
  next: earliest('select expires_at as at from accounting.pending_expiry'),
  run: expireDue,
};

/** Every schedule once a day, at the hour at which it begins, and at its end. */
const recognition: Timer<Context> = {
  name: 'accounting.recognition',
  everySeconds: 15,
  next: earliest('select next_at as at from accounting.recognition_schedule where next_at is not null'),
  run: recogniseDue,
};

export const timers: readonly Timer<Context>[] = [expiry, recognition];
