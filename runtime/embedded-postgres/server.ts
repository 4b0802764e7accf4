import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Installation } from './installation.js';
import { freePort, isPostmasterOf, postmasterOf } from './postmaster.js';

/** Longest wait for a start, ms: crash recovery after heavy writing takes seconds. */
const START_LIMIT = 60_000;
/** How long a fast shutdown may take before an immediate one, ms; the write-ahead log makes both safe. */
const STOP_LIMIT = 10_000;
const POLL = 20;
/** Pause before a failed start is tried again, ms. */
const RETRY = 200;
/** Advisory lock in database `postgres` by which a process owns the server: it cannot outlive the process, as a file can. */
const OWNER_LOCK = 0x656d6264;
const LOCK_NOT_AVAILABLE = '55P03';
/** Fixed, so that no PGDATA, PGPORT or locale of the caller reaches the server. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

const SETTINGS = {
  listen_addresses: '127.0.0.1', // every local account is trusted, nobody else can connect
  max_connections: 300, // 28 services of 3, times a few processes
  max_locks_per_transaction: 256, // dropping a database's 28 schemas takes thousands of locks at once
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'log', // statements and details of errors hold health values
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};
const FAST_SETTINGS = { fsync: 'off', full_page_writes: 'off' }; // a kill of the server still loses nothing

/** Failures that end by themselves: dying backends of a killed server, another process on the port. */
const PASSING = /shared memory block|lock file|[Aa]ddress already in use/;

/** Bytes of a folder in which a socket `.s.PGSQL.<port>` still has a path that macOS (103) and Linux (107) take. */
const MOST_SOCKET_FOLDER = 85;

/** Whether a socket can be made there: file systems that a virtual machine shares with its host may refuse, and the server would not start. */
async function takesSockets(folder: string): Promise<boolean> {
  const path = join(folder, '.probe');
  await rm(path, { force: true });
  const probe = createServer();
  const taken = await new Promise<boolean>(done => probe.once('error', () => done(false)).listen(path, () => done(true)));
  await new Promise(done => probe.close(done));
  return taken;
}

/** The folder for the server's socket, where its name needs no quoting in the server's list of folders. Empty: there is none. */
const socketFolder = async (folder: string): Promise<string> =>
  /^\/[\w./-]+$/.test(folder) && folder.length <= MOST_SOCKET_FOLDER && (await takesSockets(folder)) ? folder : '';

/** By a socket where there is one: a statement takes a sixth less CPU than through TCP, on both sides together. */
function urlOf(port: number, sockets = ''): string {
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return sockets ? `${url}?host=${encodeURIComponent(sockets)}` : url;
}

const isAlive = (child: ChildProcess | undefined): child is ChildProcess => child?.exitCode === null && child.signalCode === null;

/** The types of pg lack these two. */
type OwnerClient = pg.Client & { ref(): void; unref(): void };

/** One PostgreSQL on one folder: launched or taken over, watched, ended. */
export class Server {
  /** For example `18.4`; empty until it has answered. */
  version = '';
  #port = 0;
  #sockets = '';
  #pid = 0;
  #child: ChildProcess | undefined;
  #owner: OwnerClient | undefined;
  #stopping: Promise<void> | undefined;
  readonly #data: string;

  constructor(
    private readonly installation: Installation,
    private readonly log: (line: string) => void,
    private readonly durable: boolean,
  ) {
    this.#data = join(installation.folder, 'data');
  }

  /** Superuser, database `postgres`. */
  get url(): string {
    return urlOf(this.#port, this.#sockets);
  }

  /** Makes the cluster if there is none, then takes a running server over or launches one. */
  async start(): Promise<void> {
    if (!existsSync(this.#data)) await this.#initialise();
    await this.#checkVersion();
    await this.#run();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#end());
  }

  /** Begins the shutdown without waiting: all that can be done while the process exits. */
  kill(signal: NodeJS.Signals = 'SIGINT'): void {
    const pid = isAlive(this.#child) ? this.#child.pid! : this.#pid;
    try {
      if (pid) process.kill(pid, signal);
    } catch {
      // it is gone already
    }
  }

  get #logFile(): string {
    return join(this.installation.folder, 'server.log');
  }

  #spawn(program: string, args: string[], options: SpawnOptions): ChildProcess {
    const { account, bin, folder } = this.installation;
    return spawn(join(bin, program), args, { ...options, ...account, cwd: folder, env: ENVIRONMENT });
  }

  /** initdb into a side folder, renamed at the end: a kill halfway leaves no half cluster. 0.8 s. */
  async #initialise(): Promise<void> {
    const { folder } = this.installation;
    this.log(`making the database in ${folder}`);
    for (const name of await readdir(folder)) if (name.startsWith('data.new')) await rm(join(folder, name), { recursive: true });
    const fresh = join(folder, `data.new-${process.pid}`);
    const args = ['-D', fresh, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-instructions'];
    const child = this.#spawn('initdb', this.durable ? args : [...args, '--no-sync'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [errors, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
    if (code !== 0) throw new Error(`initdb failed: ${errors.trim()}`);
    await rename(fresh, this.#data);
  }

  async #checkVersion(): Promise<void> {
    const has = (await readFile(join(this.#data, 'PG_VERSION'), 'utf8')).trim();
    const { major, folder } = this.installation;
    if (has !== major)
      throw new Error(
        `The data in ${folder} belong to PostgreSQL ${has}, this is ${major}: dump them with ${has}, or move the folder away`,
      );
  }

  /** @throws Error when the server does not answer in time, cannot start, or belongs to another process. */
  async #run(): Promise<void> {
    const deadline = Date.now() + START_LIMIT;
    while (!this.#stopping) {
      const running = await postmasterOf(this.#data);
      if (running?.port && (await this.#own(running.port))) return;
      if (!running && !isAlive(this.#child)) await this.#launch();
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not answer after ${START_LIMIT / 1000} s; see ${this.#logFile}`);
      await delay(POLL);
    }
  }

  /** Starts the process, unless the one before failed for good. */
  async #launch(): Promise<void> {
    if (this.#child) await this.#judgeFailure();
    else await rm(this.#logFile, { force: true });
    this.#port ||= await freePort();
    const unix_socket_directories = await socketFolder(this.installation.folder);
    const settings = Object.entries({ ...SETTINGS, ...(!this.durable && FAST_SETTINGS), unix_socket_directories });
    const args = ['-D', this.#data, '-p', String(this.#port), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    // As root the account owns the folder, so a link in the file's place must not be followed.
    const log = await open(this.#logFile, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW, 0o600);
    this.#child = this.#spawn('postgres', args, { detached: true, stdio: ['ignore', log.fd, log.fd] });
    this.#child.unref();
    await once(this.#child, 'spawn');
    await log.close();
  }

  /** @throws Error with the server's own words, unless trying again can help. */
  async #judgeFailure(): Promise<void> {
    const words = (await readFile(this.#logFile, 'utf8').catch(() => '')).trimEnd().split('\n').slice(-4).join('\n');
    if (!this.version && !PASSING.test(words)) throw new Error(`PostgreSQL could not start: ${words}`);
    if (!this.version) this.#port = 0; // nobody knows the port yet: another one will do
    await delay(RETRY);
  }

  /** Connects, checks that it is the server of this folder, and takes its lock. False while it does not answer. */
  async #own(port: number): Promise<boolean> {
    const client = new pg.Client({
      connectionString: urlOf(port),
      connectionTimeoutMillis: 2_000,
      application_name: 'embedded-postgres owner',
    }) as OwnerClient;
    client.on('error', () => undefined); // `end` follows
    try {
      await client.connect();
      await this.#lock(client);
    } catch (error) {
      await client.end().catch(() => undefined);
      if ((error as pg.DatabaseError).code !== LOCK_NOT_AVAILABLE) return false;
      throw new Error(`Another process already runs the PostgreSQL in ${this.installation.folder}`, { cause: error });
    }
    return this.#took(client, port);
  }

  /** A process that was killed a moment ago may hold the lock for some milliseconds more. */
  async #lock(client: OwnerClient): Promise<void> {
    await client.query("set lock_timeout = '2s'");
    await client.query('select pg_advisory_lock($1)', [OWNER_LOCK]);
    const { rows } = await client.query("select current_setting('server_version') version, current_setting('data_directory') data");
    if (rows[0].data !== this.#data) throw new Error('another server has this port');
    this.version = rows[0].version;
  }

  async #took(client: OwnerClient, port: number): Promise<boolean> {
    const running = await postmasterOf(this.#data);
    this.#pid = running?.pid ?? 0;
    this.#sockets = running?.sockets ?? '';
    if (!isAlive(this.#child)) this.log('taking over the PostgreSQL that an earlier process left running');
    this.#owner = client;
    this.#port = port;
    client.once('end', () => void this.#recover());
    client.unref(); // the server alone does not keep the process running
    return true;
  }

  /** The owner's connection ended: the server was killed, or only the connection. Brings both back on the same port. */
  async #recover(): Promise<void> {
    this.#pid = 0; // may be another process soon
    while (!this.#stopping) {
      this.log('the connection to PostgreSQL ended; starting it again');
      try {
        return await this.#run();
      } catch (error) {
        this.log((error as Error).message);
        await delay(RETRY);
      }
    }
  }

  /** The server to end: our child, or the one taken over; 0 where there is none, or it is another process's. */
  async #ownPid(): Promise<number> {
    if (isAlive(this.#child)) return this.#child.pid!;
    return this.#owner ? ((await postmasterOf(this.#data))?.pid ?? 0) : 0;
  }

  async #end(): Promise<void> {
    await Promise.resolve(); // `#stopping` is set before the connection ends
    this.#owner?.ref(); // else a process with nothing left to do ends here
    await this.#owner?.end().catch(() => undefined);
    const pid = await this.#ownPid();
    this.#pid = pid;
    this.kill('SIGINT');
    const fast = Date.now() + STOP_LIMIT;
    while (pid && (await isPostmasterOf(this.#data, pid))) {
      if (Date.now() > fast) this.kill('SIGQUIT');
      await delay(POLL);
    }
    await this.#ended();
  }

  /** It removes its file a moment before it ends. */
  async #ended(): Promise<void> {
    const child = this.#child;
    if (!isAlive(child)) return;
    child.ref();
    await once(child, 'exit');
  }
}
