import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';

/** Something that is due at an instant, ms. */
export interface Due {
  at: number;
}

interface DueWork<Row extends Due> {
  name: string;
  /** All that will be due, in one statement. */
  read(ctx: Context): Promise<Row[]>;
  /** Does the work; `due` reads what is due, for after the locks. */
  run(ctx: Context, due: () => Promise<Row[]>): Promise<void>;
}

export const earliest = (rows: readonly Due[]): Date | null => (rows.length ? new Date(Math.min(...rows.map(({ at }) => at))) : null);

/** A timer over rows with instants: it wakes at the earliest and works on all that are due then. */
export const dueTimer = <Row extends Due>({ name, read, run }: DueWork<Row>): Timer<Context> => ({
  name,
  next: async ctx => earliest(await read(ctx)),
  run: (ctx, at) => run(ctx, async () => (await read(ctx)).filter(row => row.at <= at.getTime())),
});
