/** The gateways that are compared: ours, and peers that are installed beside the project, because they are not part of it. */
import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NAMES } from './canned/services.ts';

const HERE = import.meta.dirname;
/** Ignored by git. */
export const WORK = join(HERE, '../../.data/bench-gateway');
const PEERS = join(WORK, 'peers');
const GRAFBASE = join(PEERS, 'grafbase/node_modules/@grafbase/cli-x86_64-unknown-linux-musl/grafbase');
const node = (...args) => [process.execPath, ...args];

/** A media type that only the full server answers with; our thin route leaves such requests to it. */
const FULL = { accept: 'application/graphql-response+json' };

/** What ours does beside planning and calling. */
const OURS = 'limits, cost, rules, deadlines, metrics';

const ours = (title, env, headers) => ({
  title,
  does: `${OURS}${env.CALLERS ? '; every request another caller' : '; one caller, whose equal requests wait for one another and are then one'}`,
  command: node(join(HERE, 'ours.mjs')),
  env: { ...env, SUPERGRAPH: join(WORK, 'ruled.graphql') },
  headers,
});

const hive = (title, env) => ({
  title,
  does: `no limits, rules or metrics; equal calls${env.DEDUPE ? ' and requests' : ''} under way are one`,
  peer: 'hive',
  cwd: join(PEERS, 'hive'),
  command: node(
    'node_modules/.bin/hive-gateway',
    'supergraph',
    join(WORK, 'plain.graphql'),
    '-c',
    'gateway.config.mjs',
    '-h',
    '127.0.0.1',
    '-p',
    'PORT',
  ),
  env,
});

/** By name. `does`: what it does, as far as the others do not. `PORT` in a command is the port; `headers` go with each request. */
export const VARIANTS = {
  'ours-process': ours('ours, in process, thin route', { CALLS: 'process', CALLERS: 'many' }),
  'ours-network': ours('ours, networked, thin route', { CALLERS: 'many' }),
  'ours-full': ours('ours, networked, full ApolloServer', { CALLERS: 'many' }, FULL),
  'ours-dedupe': ours('ours, networked, de-duplicating', {}),
  'hive-rust': hive('Hive Gateway, Rust planner', {}),
  'hive-rust-dedupe': hive('Hive Gateway, Rust planner, de-duplicating', { DEDUPE: '1' }),
  grafbase: {
    title: 'Grafbase (de-duplicates)',
    does: 'no limits, rules or metrics; equal calls under way are one',
    peer: 'grafbase',
    cwd: join(PEERS, 'grafbase'),
    command: [GRAFBASE, '--home', join(WORK, 'grafbase-home'), 'dev', '-p', 'PORT'],
    env: {},
  },
  apollo: {
    title: 'plain @apollo/gateway',
    does: 'no limits, rules or metrics',
    command: node(join(HERE, 'plain-apollo.mjs')),
    env: { SUPERGRAPH: join(WORK, 'plain.graphql') },
  },
};

const exists = file =>
  stat(file).then(
    () => true,
    () => false,
  );

/** Installs a peer as its lock file says, unless it is there. @throws Error with npm's output. */
async function install(peer) {
  const folder = join(PEERS, peer);
  const lock = await readFile(join(HERE, 'peers', peer, 'package-lock.json'), 'utf8');
  const stamp = join(folder, 'installed');
  if ((await readFile(stamp, 'utf8').catch(() => '')) !== lock) {
    process.stderr.write(`installing ${peer} …\n`);
    await mkdir(folder, { recursive: true });
    await cp(join(HERE, 'peers', peer), folder, { recursive: true });
    const { status, stderr } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${peer} cannot be installed: ${stderr.slice(-600)}`);
    await writeFile(stamp, lock);
  }
  await cp(join(HERE, 'peers', peer), folder, { recursive: true });
}

/** Grafbase composes by itself, from the same SDL. */
async function configureGrafbase(base) {
  if (!(await exists(GRAFBASE))) throw new Error('Grafbase has no program for this machine');
  await chmod(GRAFBASE, 0o755);
  const parts = NAMES.map(name => `[subgraphs.${name}]\nschema_path = "../../${name}.graphql"\nurl = "${base}/${name}/graphql"\n`);
  await writeFile(join(PEERS, 'grafbase', 'grafbase.toml'), parts.join('\n'));
}

/** Makes the chosen variants ready. Returns the names of those that this machine can run. @param base where the canned services answer. */
export async function prepare(names, base) {
  const unfit = new Set();
  for (const peer of new Set(names.map(name => VARIANTS[name].peer).filter(Boolean))) {
    try {
      await install(peer);
      if (peer === 'grafbase') await configureGrafbase(base);
    } catch (error) {
      process.stderr.write(`without ${peer}: ${error.message}\n`);
      unfit.add(peer);
    }
  }
  return names.filter(name => !unfit.has(VARIANTS[name].peer));
}
