import pg from 'pg';
import { withDatabase } from '../../runtime/data/pool.js';

const EVERY_MS = 250;

const COUNT = `select application_name as name, count(*)::int as open from pg_stat_activity where backend_type = 'client backend' and datname ~ $1 group by 1 order by 2 desc`;

/** So many connections may be open at once: of the 100 that a server has by default a run leaves 20. */
export const mostConnections = (max: number): number => Math.floor(max * 0.8);

export interface Connections {
  /** Ends the counting. @returns the most connections that were open at once, by whom, and how many the server has. */
  stop(): Promise<{ peak: number; holders: string; max: number }>;
}

/** Counts the connections to the databases of a run, whichever process opened them. */
export async function countConnections(server: string, run: number): Promise<Connections> {
  const client = new pg.Client({ connectionString: withDatabase(server, 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  const { rows: settings } = await client.query<{ max_connections: string }>('show max_connections');
  const max = Number(settings[0]!.max_connections);
  let [peak, holders] = [0, ''];
  const look = async (): Promise<void> => {
    const { rows } = await client.query<{ name: string; open: number }>(COUNT, [`^platform_[a-z]+_${run}_`]);
    const open = rows.reduce((sum, row) => sum + row.open, 0);
    if (open > peak) [peak, holders] = [open, rows.map(row => `${row.name || 'test'} ${row.open}`).join(', ')];
  };
  const timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      await client.end();
      return { peak, holders, max };
    },
  };
}
