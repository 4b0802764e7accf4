import { CommsCategory, CommsSuppressionReason as Reason } from '../entities/enums.js';

interface Stop {
  reason: Reason;
  /** `all`, `marketing`, or a topic's key. */
  scope: string;
  expiresAt: Date | null;
}

/**
 * Whether an address may not be written to: what does not exist gets nothing; what somebody does not want stops only what may be switched
 * off. Source: comms, rule 6.
 */
export const isSuppressed = (
  stops: readonly Stop[],
  topic: { key: string; category: CommsCategory; mandatory: boolean },
  isAuth: boolean,
  now: Date,
): boolean =>
  stops.some(({ reason, scope, expiresAt }) => {
    if (expiresAt !== null && expiresAt <= now) return false;
    if (isAuth) return reason === Reason.HARD_BOUNCE;
    if (reason === Reason.HARD_BOUNCE || reason === Reason.INVALID) return true;
    if (topic.mandatory) return false;
    return scope === 'all' || scope === topic.key || (scope === 'marketing' && topic.category === CommsCategory.MARKETING);
  });

/** What the first word of an inbound text asks for. Source: comms 4.5. */
export function inboundWord(text: string): 'stop' | 'start' | 'help' | null {
  const word = (text.trim().split(/\s+/)[0] ?? '').toUpperCase().replace(/[^A-Z]/g, '');
  if (['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT'].includes(word)) return 'stop';
  if (['START', 'UNSTOP'].includes(word)) return 'start';
  return word === 'HELP' ? 'help' : null;
}
