import { expect, test } from 'vitest';
import { importsOf, sourcesIn, textOf } from './sources.js';

/** Steps of a service's rooms: a room may import those of lower steps. Source: architecture 1. */
const STEPS = [
  ['stubs'],
  ['entities', 'inputs'],
  ['rules'],
  ['ports'],
  ['commands', 'queries'],
  ['workers'],
  ['resolvers', 'references', 'consumers', 'timers', 'native', 'seed', 'erase'],
  ['index'],
];

/** Within a step: commands may ask queries, and inputs name the enums and object types of entities. */
const SIDEWAYS = ['commands > queries', 'inputs > entities'];

const stepOf = (room: string): number => STEPS.findIndex(step => step.includes(room));

/** `resolvers` of `subgraphs/jobs/resolvers/job.ts`, `erase` of `subgraphs/jobs/erase.ts`. */
const roomOf = (path: string): string => path.split('/')[2]!.replace(/\.[jt]s$/, '');

const mayImport = (from: string, to: string): boolean => from === to || stepOf(to) < stepOf(from) || SIDEWAYS.includes(`${from} > ${to}`);

const inService = (path: string): boolean => path.split('/').length > 2;
const files = sourcesIn('subgraphs').filter(inService);

test('inside a service arrows point one way', () => {
  const wrong = files.flatMap(file =>
    importsOf(file)
      .filter(target => target.startsWith('subgraphs/') && inService(target) && !mayImport(roomOf(file), roomOf(target)))
      .map(target => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test.each([
  ['resolvers', 'consumers'],
  ['queries', 'commands'],
  ['rules', 'ports'],
  ['commands', 'workers'],
  ['entities', 'inputs'],
  ['workers', 'timers'],
])('%s may not import %s', (from, to) => {
  expect(mayImport(from, to)).toBe(false);
});

const holding = (decorator: RegExp): string[] => files.filter(file => decorator.test(textOf(file)));

test('every file in resolvers has a @Resolver, and no other file has one', () => {
  const having = new Set(holding(/^@Resolver\(/m));
  expect(files.filter(file => (roomOf(file) === 'resolvers') !== having.has(file))).toEqual([]);
});

test('every @ObjectType stands in entities or stubs', () => {
  expect(holding(/@ObjectType\(|\bconnectionOf[<(]/).filter(file => !['entities', 'stubs'].includes(roomOf(file)))).toEqual([]);
});

test('every @InputType and @ArgsType stands in inputs', () => {
  expect(holding(/@(InputType|ArgsType)\(/).filter(file => roomOf(file) !== 'inputs')).toEqual([]);
});

test('every enum of the schema stands in entities, inputs or stubs', () => {
  expect(holding(/registerEnumType\(|\benumType\(/).filter(file => !['entities', 'inputs', 'stubs'].includes(roomOf(file)))).toEqual([]);
});
