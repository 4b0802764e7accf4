import type pg from 'pg';
import { NO_REPLAY, type Envelope } from './envelope.js';
import { Limiter } from './limiter.js';

/** One suspect at a time in the whole process: when it dies, there is no doubt which one it was. */
const alone = new Limiter(1);

const START = `
insert into events.suspect as s (consumer, event_id, replay_id) values ($1, $2::uuid, $3::uuid)
on conflict (consumer, event_id, replay_id) do update set starts = s.starts + 1, started_at = clock_timestamp() returning starts`;

const CLEAR = 'delete from events.suspect where consumer = $1 and event_id = $2::uuid and replay_id = $3::uuid';

/**
 * Finds the event that takes its process down among those that were in hand when it did. The broker's count cannot: it grows for all of
 * them, and with every restart. So a suspect's start is noted before it runs, and what ends in any other way than a crash clears the note.
 */
export class Suspects {
  constructor(
    readonly pool: pg.Pool,
    readonly consumer: string,
  ) {}

  /** @param run gets how many earlier starts never ended. */
  judge<T>(event: Envelope, run: (crashes: number) => Promise<T>): Promise<T> {
    const key = [this.consumer, event.id, event.replay_id ?? NO_REPLAY];
    return alone.run(async () => {
      const { rows } = await this.pool.query<{ starts: number }>(START, key);
      try {
        return await run(rows[0]!.starts - 1);
      } finally {
        await this.pool.query(CLEAR, key).catch(() => undefined); // an old note only makes the next start look like the second
      }
    });
  }
}
