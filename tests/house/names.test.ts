import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SLUGS } from '../../events/slugs.js';
import { ROOMS, ROOT, filesIn, sourcesIn } from './sources.js';

const slug = `(${SLUGS.join('|')})`;
const name = '[a-z0-9]+(-[a-z0-9]+)*';

/**
 * The files that a room may hold; a kind that became too long is a folder with one file per aggregate. Source: architecture 1.
 */
const LAYOUT: Record<string, RegExp[]> = {
  subgraphs: [
    /^subgraphs\/services\.ts$/,
    new RegExp(`^subgraphs/${slug}/(README\\.md|(index|stubs|seed|erase)\\.ts)$`),
    new RegExp(`^subgraphs/${slug}/(entities|inputs|rules|queries|workers|resolvers|references|consumers|timers)(/${name})?\\.ts$`),
    /^subgraphs\/comms\/templates\/[a-z][a-z0-9_]*\/(template\.json|display\.graphql|(email|sms|push|in_app)\.[a-z]{2}\.yaml)$/,
    new RegExp(`^subgraphs/${slug}/(ports|commands|native)(/${name}){0,2}(\\.d)?\\.ts$`), // these may nest once
  ],
  migrations: [new RegExp(`^migrations/${slug}/20\\d{10}_[a-z0-9_]+\\.ts$`)],
  'rest-adapter/routes': [new RegExp(`^rest-adapter/routes/${slug}\\.ts$`), new RegExp(`^rest-adapter/routes/${slug}/${name}\\.ts$`)],
};

test.each(Object.entries(LAYOUT))('%s holds only files that architecture 1 names', (room, allowed) => {
  expect(filesIn(room).filter(file => !allowed.some(pattern => pattern.test(file)))).toEqual([]);
});

test('a kind of file is a file or a folder, never both', () => {
  const files = filesIn('subgraphs');
  expect(files.filter(file => files.some(other => other.startsWith(`${file.replace(/\.ts$/, '')}/`)))).toEqual([]);
});

test('no file or folder is a drawer for everything', () => {
  const drawers = /(^|\/)(utils?|common|helpers?|shared|misc|base|service|services(?=\/))(\.ts$|\/)/;
  const allowed = ['runtime/service.ts']; // the declaration of a service, named by architecture 1
  expect(ROOMS.flatMap(filesIn).filter(file => drawers.test(file) && !allowed.includes(file))).toEqual([]);
});

test('a plugin of ours has a name, so that Fastify need not look through all modules for one', () => {
  const nameless = ROOMS.flatMap(sourcesIn).filter(file =>
    /\.register\(\s*(async )?\(?\w*\)? ?=>|\breturn async app =>/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(nameless).toEqual([]);
});

test('what the formatter leaves alone says why on its line', () => {
  const silent = ROOMS.flatMap(sourcesIn).filter(file => /prettier-ignore\s*$/m.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(silent).toEqual([]);
});

test('no source file has more than 400 lines', () => {
  const long = ROOMS.flatMap(sourcesIn).filter(file => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 401);
  expect(long).toEqual([]);
});
