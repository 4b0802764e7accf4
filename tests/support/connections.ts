import pg from 'pg';
import { withDatabase } from '../../runtime/data/database.js';

const EVERY_MS = 250;
/** What a run may hold of its server's connections: of 100 it leaves 20 for whoever else is there. */
const SHARE = 0.8;

const COUNT = `select count(*)::int as open from pg_stat_activity where backend_type = 'client backend' and datname ~ $1`;

export interface Connections {
  /** Ends the counting. @returns the most connections that were open at once, and how many may be. */
  stop(): Promise<{ peak: number; limit: number }>;
}

/** Counts the connections to the databases of a run, whichever process opened them. */
export async function countConnections(server: string, run: number): Promise<Connections> {
  const client = new pg.Client({ connectionString: withDatabase(server, 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  const { rows: settings } = await client.query<{ max_connections: string }>('show max_connections');
  const limit = Math.floor(SHARE * Number(settings[0]!.max_connections));
  let peak = 0;
  const look = async (): Promise<void> => {
    const { rows } = await client.query<{ open: number }>(COUNT, [`^platform_[a-z]+_${run}_`]);
    peak = Math.max(peak, rows[0]!.open);
  };
  const timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      await client.end();
      return { peak, limit };
    },
  };
}
