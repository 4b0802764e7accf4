import { globSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { INBOUND_SOURCES } from '../../subgraphs/webhooks/rules/inbound.js';
import { filesIn, ROOMS, ROOT, textOf } from './sources.js';
import { sharedPlatform } from '../support/platform.js';

beforeAll(async () => {
  await sharedPlatform(); // its first start takes longer than a test may
});

/** UPGRADING.md tells what was, too. */
const READMES = globSync(['README.md', 'WEBHOOKS.md', 'bench/*.md', 'subgraphs/*/README.md'], { cwd: ROOT });
/** Rooms in which a name that is written without its folder may stand. */
const FOLDERS = [...ROOMS, 'bench', 'scripts', 'tests'];

const proseOf = (file: string): string => textOf(file).replaceAll(/^```[^]*?^```/gm, '');
/** What is set as code, outside of blocks. */
const spansOf = (file: string): string[] => [...proseOf(file).matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!);
const spans = READMES.flatMap(file => spansOf(file).map(span => ({ file, span })));

const isPath = (span: string): boolean => /^[\w.*{},-]+(\/[\w.*{},<>-]+)+\/?$/.test(span) || /^[\w.*-]+\.(ts|mjs|graphql|md)$/.test(span);
/** Not of this checkout: contracts, what is made when it runs, and what only looks like a path. */
const ELSEWHERE = /^(contracts\/|\.data\/|dist\/|application\/|\d)/;
const withoutSlug = (path: string): string => path.replaceAll(/<\w+>/g, 'clinical');

/** The service of whose README this is, else everything: there a file may be named without its folder. */
const homeOf = (file: string): string => (file.startsWith('subgraphs/') ? dirname(file) : '');
const files = [...FOLDERS.flatMap(filesIn), ...globSync('*.*', { cwd: ROOT })];

/** Whether a path exists from the README's folder or from the root; a module may be named without its ending. */
function exists(file: string, path: string): boolean {
  if (!path.includes('/')) return files.some(one => one.startsWith(homeOf(file)) && posix.basename(one) === path);
  const name = withoutSlug(path).replace(/\/$/, '');
  return ['.', dirname(file)].some(
    base =>
      globSync(
        [name, `${name}.ts`].map(one => posix.join(base, one)),
        { cwd: ROOT },
      ).length > 0,
  );
}

test('every file and folder that a README names exists', () => {
  const missing = spans.filter(({ file, span }) => isPath(span) && !ELSEWHERE.test(span) && !exists(file, span));
  expect(missing).toEqual([]);
});

test('every link of a README leads somewhere', () => {
  const links = READMES.flatMap(file =>
    [...proseOf(file).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, to]) => posix.join(dirname(file), to!)),
  );
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter(to => globSync(to, { cwd: ROOT }).length === 0)).toEqual([]);
});

test('every GraphQL request of a README is answered without an error', async () => {
  const p = await sharedPlatform();
  const requests = READMES.flatMap(file =>
    [...textOf(file).matchAll(/^ *(?:-d ')?(\{[^\n]*"query":[^]*?\})(?:'|\nEND)$/gm)].map(([, body]) => body!),
  );
  expect(requests.length).toBeGreaterThanOrEqual(2);
  for (const body of requests) {
    const { query, variables } = JSON.parse(body.replaceAll('\n', ' ')) as { query: string; variables?: object };
    const { data, errors } = await p.graphql(query, variables ?? {}, { token: await p.serviceToken() });
    expect([errors, Object.values(data ?? {}).includes(null)], query).toEqual([[], false]);
  }
});

test('every script that a README names exists', () => {
  const scripts = new Set(Object.keys(JSON.parse(textOf('package.json')).scripts));
  const named = READMES.flatMap(file => [...textOf(file).matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => ({ file, name: name! })));
  expect(named.filter(({ name }) => !scripts.has(name))).toEqual([]);
});

const sources = files
  .filter(file => /\.(ts|mjs)$/.test(file) && file !== 'tests/house/readmes.test.ts')
  .map(textOf)
  .join('\n');
const words = new Set(sources.match(/\w+/g));

/** Of each service, role or vendor: the code has the beginning of the name before a value that it puts in. */
const isMade = (name: string): boolean =>
  [...sources.matchAll(/[`'"]([A-Z][A-Z0-9_]*_)(?:\$\{|[`'"])/g)].some(([, beginning]) => name.startsWith(beginning!));

const NAME = /\b(?:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+|[a-z]+[A-Z]\w*|[a-z]+(?:_[a-z0-9]+)+)\b/g;

test('every constant, function, field and code that a README names stands in the code', () => {
  const names = spans
    .filter(({ span }) => !span.includes('/'))
    .flatMap(({ file, span }) => [...span.matchAll(NAME)].map(([name]) => ({ file, name })));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter(({ name }) => !words.has(name) && !isMade(name))).toEqual([]);
});

/** Variables of the configuration tables, of the platform and of each service. Those per service or source are their beginning. */
const rows = READMES.flatMap(file => [...textOf(file).matchAll(/^\| (`[A-Z][^|]*) \|/gm)]).flatMap(([, cell]) =>
  [...cell!.matchAll(/`([A-Z0-9_]+)[`_<]/g)].map(([, name]) => name!),
);
const documented = new Set(rows);
/** What the code reads from the environment: `env.X`, `env('X')` and settings of a service. */
const read = new Set(
  filesIn('runtime')
    .concat(filesIn('subgraphs'), filesIn('gateway'))
    .filter(file => file.endsWith('.ts'))
    .flatMap(file => [
      ...textOf(file).matchAll(
        /\b(?:env\.(?!APOLLO)|(?:setting|integer|integers|oneOf|whole|number|listOf)(?:<[^>]*>)?\((?:env, )?')([A-Z][A-Z0-9_]+)/g,
      ),
    ])
    .map(([, name]) => (/^(M2M|PARTNER)_/.test(name!) ? `SEED_${name}` : name!)),
);

test('every variable that the code reads stands in a configuration table', () => {
  expect(read.size).toBeGreaterThan(40);
  expect([...read].filter(name => !documented.has(name))).toEqual([]);
});

test('every vendor whose calls are received has its secret in the configuration table', () => {
  const names = Object.keys(INBOUND_SOURCES).map(source => `WEBHOOKS_INBOUND_SECRET_${source.toUpperCase()}`);
  expect(names.filter(name => !documented.has(name))).toEqual([]);
});

test('no variable stands in the configuration tables twice', () => {
  expect(rows.filter((name, at) => rows.indexOf(name) !== at)).toEqual([]);
});

test('every variable of the configuration tables is read', () => {
  expect([...documented].filter(name => !words.has(name) && !isMade(name))).toEqual([]);
});

const OWNS = /\*\*Owns\*\* \(schema `([\w-]+)`\):\s*`([^`]+)`/;
const HOUSE = ['audit_log', 'inbox', 'idempotency_key', 'test_clock', 'schedule_slot', 'migration'];
const TABLES = `
select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition and not c.relname = any($2)`;

test.each(
  READMES.flatMap(file => [OWNS.exec(textOf(file).replaceAll('\n', ' '))].filter(found => found !== null)).map(([, schema, list]) => [
    schema!,
    list!,
  ]),
)('%s owns the tables that its README lists, and no others', async (schema, list) => {
  const p = await sharedPlatform();
  const tables = (await p.sql<{ name: string }>(TABLES, [schema, HOUSE])).map(({ name }) => name);
  expect(list.split(/\s+/).filter(Boolean).sort()).toEqual(tables.sort());
});
