import { Ctx, Query, Resolver } from 'type-graphql';
import { beforeEach, expect, test } from 'vitest';
import { prepareServices } from '../../gateway/composition/preparation.js';
import type { Parts } from '../../gateway/composition/parts.js';
import { StopStack } from '../../gateway/composition/shutdown.js';
import { Access } from '../../runtime/access/access.js';
import { Context } from '../../runtime/request/context.js';
import { service, type ServiceDeclaration } from '../../runtime/service.js';
import { until } from '../support/until.js';
import { CALLER, startService } from './support/service.js';
import { internalRequest } from '../../runtime/request/request.js';
import { parse } from 'graphql';

@Resolver()
class Answers {
  @Access({ service: 'admin:payments' })
  @Query(() => String)
  async answer(@Ctx() ctx: Context): Promise<string> {
    return ctx.slug;
  }
}

let read: string[];
beforeEach(() => void (read = []));

/** Notes when its schema and its ORM are made. */
const watched = (resolvers: readonly Function[] = [Answers]): ServiceDeclaration => ({
  ...service({ slug: 'payments', purpose: 'Preparation, for a test.', entities: [], resolvers: [], erase: 'nothing_held' }),
  get entities() {
    read.push('ORM');
    return [];
  },
  get resolvers() {
    read.push('schema');
    return resolvers;
  },
});

const partsOf = ({ log, config }: Pick<Parts, 'log' | 'config'>, restPlans: 'idle' | 'use'): Parts =>
  ({ log, config: { ...config, restPlans }, stops: new StopStack(log) }) as Parts;

test('a service makes its ORM and its schema when it is first asked, and once', async () => {
  const { host } = await startService(watched(), []);
  expect(read).toEqual([]);
  const asked = () => host.execute({ document: parse('{ answer }') }, internalRequest(CALLER));
  expect(await asked()).toEqual({ data: { answer: 'payments' } });
  expect(await asked()).toEqual({ data: { answer: 'payments' } });
  expect(read).toEqual(['ORM', 'schema']);
});

test('after a start both are made without being asked for, also of the service after one that cannot be prepared', async () => {
  const [{ host: broken }, { host }] = [await startService(watched([]), []), await startService(watched(), [])];
  const parts = partsOf(host, 'idle');
  prepareServices([broken, host], parts);
  await until(
    'both',
    async () => read.length,
    n => n === 4,
  );
  expect(read).toEqual(['ORM', 'schema', 'ORM', 'schema']);
  await parts.stops.run();
});

test('with `REST_PLANS=use`, or after a stop, nothing is made that was not asked for', async () => {
  const { host } = await startService(watched(), []);
  const { host: later } = await startService(watched(), []);
  const [waiting, stopped] = [partsOf(host, 'use'), partsOf(host, 'idle')];
  prepareServices([host], waiting);
  prepareServices([host], stopped);
  await stopped.stops.run();
  prepareServices([later], partsOf(later, 'idle'));
  await until(
    'the later one',
    async () => read.length,
    n => n >= 2,
  );
  expect(read).toEqual(['ORM', 'schema']);
});
