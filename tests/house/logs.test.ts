import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSealer } from '../../runtime/data/crypto.js';
import { loggedError } from '../../runtime/observe/log.js';
import { ROOMS, ROOT, sourcesIn } from './sources.js';

/** PostgreSQL repeats the row that it refuses, so an error's message may hold health values. */
test('no source logs the message of an error as it is; loggedError and errorOf decide what a log may hold', () => {
  const allowed = ['runtime/observe/log.ts', 'events/log.ts'];
  const logging = /err:\s*\{[^}]*message:|log\.\w+\([^)]*\.message/;
  const offenders = ROOMS.flatMap(sourcesIn).filter(
    file => !allowed.includes(file) && logging.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(offenders).toEqual([]);
});

test('of a database error only its state and the names of table, column and constraint are kept', () => {
  const error = Object.assign(new Error('null value … Failing row contains (160, mg/dL)'), {
    code: '23502',
    table: 'observation',
    column: 'value',
    detail: 'Failing row contains (160)',
  });
  const logged = JSON.stringify(loggedError(error));
  expect(logged).not.toContain('160');
  expect(loggedError(error)).toMatchObject({ sqlState: '23502', table: 'observation', column: 'value' });
});

test('an error of ours keeps its message, which names no value', () => {
  expect(() => createSealer('x')).toThrow(/ENCRYPTION_KEYS/);
  expect(loggedError(new Error('the queue is closed'))).toMatchObject({ message: 'the queue is closed' });
});
