export interface Month {
  /** YYYY-MM */
  name: string;
  startsAt: Date;
  /** The first instant after it. */
  endsAt: Date;
}

const monthOf = (year: number, month: number): Month => {
  const startsAt = new Date(Date.UTC(year, month, 1));
  return { name: startsAt.toISOString().slice(0, 7), startsAt, endsAt: new Date(Date.UTC(year, month + 1, 1)) };
};

/** Calendar months, UTC, from that of one instant to that of another. */
export function monthsBetween(from: Date, to: Date): Month[] {
  const months: Month[] = [];
  for (let at = from.getUTCFullYear() * 12 + from.getUTCMonth(); at <= to.getUTCFullYear() * 12 + to.getUTCMonth(); at++)
    months.push(monthOf(Math.floor(at / 12), at % 12));
  return months;
}

/** The month before that of an instant. */
export const monthBefore = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1));
