import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { freePort } from '../../support/platform.js';
import { until } from '../../support/until.js';

/** The scripts themselves: Debian's wrappers in /usr/sbin change to the account of the installed service. */
const BIN = process.env.RABBITMQ_BIN ?? '/usr/lib/rabbitmq/bin';
const START_MS = 60_000;

/** A RabbitMQ of this run alone: own node name, ports, port mapper, folder. Null where RabbitMQ is not installed. */
export class OwnBroker {
  #server: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    readonly url: string,
    private readonly env: Record<string, string>,
    private readonly portMapper: ChildProcess,
  ) {}

  static async start(): Promise<OwnBroker | null> {
    if (!existsSync(join(BIN, 'rabbitmq-server'))) return null;
    const folder = await mkdtemp(join(tmpdir(), 'platform-chaos-rabbitmq-'));
    const [port, distribution, mapper] = [await freePort(), await freePort(), await freePort()];
    await writeFile(join(folder, 'rabbitmq.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\nlog.console = false\n`);
    await writeFile(join(folder, 'plugins'), '[].');
    const env = {
      PATH: process.env.PATH!,
      HOME: folder, // the cookie lies here
      RABBITMQ_NODENAME: `chaos${process.pid}@localhost`,
      RABBITMQ_DIST_PORT: String(distribution),
      RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
      RABBITMQ_PID_FILE: join(folder, 'pid'),
      RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
      ERL_EPMD_PORT: String(mapper),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      ERL_FLAGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    };
    const portMapper = spawn('epmd', ['-port', String(mapper)], { env, stdio: 'ignore' });
    process.once('exit', () => portMapper.kill('SIGKILL'));
    const broker = new OwnBroker(folder, `amqp://guest:guest@127.0.0.1:${port}`, env, portMapper);
    await broker.restart();
    return broker;
  }

  /** Starts it again on what it had on disk. */
  async restart(): Promise<void> {
    const server = spawn(join(BIN, 'rabbitmq-server'), { env: this.env, stdio: 'ignore', detached: true });
    const end = (): unknown => process.kill(-server.pid!, 'SIGKILL'); // a run that is interrupted leaves nothing
    process.once('exit', end);
    server.once('exit', () => process.off('exit', end));
    this.#server = server;
    const answers = async (): Promise<boolean> => {
      const connection = await connect(this.url, { timeout: 2_000 }).catch(() => null);
      await connection?.close();
      return connection !== null;
    };
    await until('RabbitMQ to answer', answers, ok => ok, START_MS);
  }

  /** As a crash of its machine would end it. */
  async kill(): Promise<void> {
    const server = this.#server!;
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    process.kill(-server.pid!, 'SIGKILL'); // the script and the runtime that it started
    await gone;
  }

  async ctl(...args: string[]): Promise<string> {
    return (await promisify(execFile)(join(BIN, 'rabbitmqctl'), args, { env: this.env })).stdout;
  }

  async stop(): Promise<void> {
    await this.kill();
    this.portMapper.kill('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }
}
