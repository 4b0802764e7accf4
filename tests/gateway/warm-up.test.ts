import Fastify from 'fastify';
import { parse } from 'graphql';
import { expect, test, vi } from 'vitest';
import type { PreparedOperation } from '../../gateway/plans/executor.js';
import { WarmUp } from '../../gateway/plans/warm-up.js';
import { createLogger } from '../../runtime/observe/log.js';

const SOURCE = '{ __typename }';
const row = (key: string): PreparedOperation => ({ document: parse(SOURCE), source: SOURCE, key, operationName: null });

test('what is known from the start is planned once the process works, one after the other; one that fails stops nothing', async () => {
  const planned: string[] = [];
  const prepare = ({ key }: PreparedOperation): void => {
    planned.push(key);
    if (key === 'GET /second') throw new Error('there is no plan');
  };
  const app = Fastify();
  const { promise, resolve } = Promise.withResolvers<void>();
  const executor = { prepare, execute: () => Promise.reject(new Error('not asked for')) };
  const warmUp = new WarmUp(app, executor, createLogger('silent'), promise);
  for (const key of ['GET /first', 'GET /second', 'GET /third']) warmUp.add(row(key));
  await app.listen({ port: 0, host: '127.0.0.1' });
  expect(planned).toEqual([]);
  resolve();
  await vi.waitFor(() => expect(planned).toHaveLength(3));
  await app.close();
  expect(planned).toEqual(['GET /first', 'GET /second', 'GET /third']);
});
