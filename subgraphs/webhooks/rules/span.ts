/** How far back events can be recovered: as long as the log keeps them, days. Source: section 4, recover. */
const MAX_DAYS = 30;
const DAY_MS = 86_400_000;

/** What is wrong with the time that is to be recovered. */
export function spanViolations(since: Date, until: Date, now: Date): { pointer: string; message: string }[] {
  return [
    ...(now.getTime() - since.getTime() > MAX_DAYS * DAY_MS
      ? [{ pointer: '/input/since', message: `must lie at most ${MAX_DAYS} days back` }]
      : []),
    ...(until <= since ? [{ pointer: '/input/until', message: 'must lie after `since`' }] : []),
  ];
}
