import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

/** The server process that holds a data folder. */
export interface Postmaster {
  readonly pid: number;
  /** Undefined while it has not begun to listen. */
  readonly port: number | undefined;
  /** Folder of its Unix socket; empty where it has none. */
  readonly sockets: string;
}

/** Command line of a process, or an empty text when it is gone or a zombie. */
async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}

/** Whether this process is the server of this folder: after a reboot or in a container its number may belong to any other. */
export const isPostmasterOf = async (data: string, pid: number): Promise<boolean> => (await commandOf(pid)).includes(data);

/** Whether the number is taken, by anyone: a zombie counts, as it does for PostgreSQL. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The server that runs on a data folder, read from its `postmaster.pid` (line 1 the process, line 4 the port, line 5 the socket's folder); null when none does.
 * A file whose number now belongs to another process is removed, since PostgreSQL would refuse to start over it; the segment of shared
 * memory still protects the folder then.
 */
export async function postmasterOf(data: string): Promise<Postmaster | null> {
  const file = join(data, 'postmaster.pid');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!pid) return null;
  if (await isPostmasterOf(data, pid)) return { pid, port: Number(lines[3]) || undefined, sockets: lines[4] ?? '' };
  if (exists(pid)) await rm(file, { force: true });
  return null;
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done, failed) => probe.once('error', failed).listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise(done => probe.close(done));
  return port;
}
