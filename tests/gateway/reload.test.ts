/** Another supergraph without a restart: no request fails, no memory leaks. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parse, print, visit } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/**
 * A reload is 5 s of work, most of it in one turn of the event loop, and the plans of what is asked after it as much again: much longer beside
 * other tests, where the deadline of 30 s for a request would pass.
 */
const SLOW_MS = 120_000;

let p: TestPlatform;
let token: string;
let sdl: string;
beforeAll(async () => {
  p = await platform({ services: ['platform'], env: { REQUEST_DEADLINE_MS: String(SLOW_MS) } });
  token = await p.serviceToken();
  sdl = await readSupergraph();
});

/** A field of the API for which nobody asks, no route and no service. */
const UNUSED = 'usersByHandles';
const withoutField = (name: string): string =>
  print(visit(parse(sdl), { FieldDefinition: field => (field.name.value === name ? null : undefined) }));
const BRANDS = '{ brands { nodes { id slug } } }';

/** Sends requests until it is stopped; `stop` returns the bodies of answers other than 200. */
function keepAsking() {
  const [wrong, state] = [[] as unknown[], { stopped: false, answered: 0 }];
  const ask = async (at: number): Promise<void> => {
    while (!state.stopped) {
      const text = at % 2 ? BRANDS : `query Ask${at}x${state.answered} ${BRANDS}`; // one that is known, one that is new
      const answer = at % 3 ? await p.graphql(text, {}, { token }) : await p.rest('GET', '/platform/v1/brands', { token });
      if (answer.status !== 200 || answer.body.errors) wrong.push(answer.body);
      state.answered++;
    }
  };
  const asking = Array.from({ length: 6 }, (_, at) => ask(at));
  const stop = async (): Promise<unknown[]> => {
    state.stopped = true;
    await Promise.all(asking);
    return wrong;
  };
  return { stop, answered: () => state.answered };
}

describe('a reload', () => {
  test(
    'drops no request, and the new supergraph answers from then on',
    async () => {
      const load = keepAsking();
      try {
        for (const next of [withoutField(UNUSED), sdl, withoutField(UNUSED)]) {
          const goal = load.answered() + 20;
          await p.running.reload(next);
          await until(
            'answers of the new one',
            async () => load.answered(),
            answered => answered > goal,
            SLOW_MS,
          );
        }
      } finally {
        expect(await load.stop()).toEqual([]);
      }
      const query = `{ ${UNUSED}(handles: []) { id } }`;
      expect((await p.graphql(query, {}, { token })).status).toBe(400);
      await p.running.reload();
      expect((await p.graphql(query, {}, { token: await p.internalToken('clinical') })).status).toBe(200);
    },
    3 * SLOW_MS,
  );

  test('changes what REST routes take and give', async () => {
    const resolve = () => p.rest('GET', '/platform/v1/brands/resolve?host=main.example');
    const FIELD = 'brandByHost(host: String! @constraint(maxLength: 255))';
    expect(sdl).toContain(FIELD);
    expect((await resolve()).status).toBe(200);
    await p.running.reload(sdl.replace(FIELD, FIELD.replace('255', '5')));
    expect(await resolve()).toMatchObject({ status: 400, body: { errors: [{ pointer: '/host' }] } });
    await p.running.reload();
    expect((await resolve()).status).toBe(200);
  });

  test.each([
    ['a route', 'brands'],
    ['the feed of revocations', 'tokenRevocations'],
  ])('to a supergraph that lacks what %s needs is refused, and the present one stays', async (_who, field) => {
    const { gateway } = p.running;
    await expect(p.running.reload(withoutField(field))).rejects.toThrow(field);
    expect(p.running.gateway).toBe(gateway);
    expect((await p.graphql(BRANDS, {}, { token })).errors).toEqual([]);
  });

  test('to something that is no supergraph is refused, and the present one stays', async () => {
    await expect(p.running.reload('type Query { a: Int }')).rejects.toThrow(/supergraph|@link|core/i);
    await expect(p.running.reload('{')).rejects.toThrow(/Syntax Error/);
    expect((await p.rest('GET', '/platform/v1/brands', { token })).status).toBe(200);
  });
});

test('objects of an old supergraph are collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const schemas: WeakRef<object>[] = [];
  await p.running.reload();
  for (let time = 0; time < 3; time++) {
    for (const _twice of [1, 2, 3]) await p.graphql(BRANDS, {}, { token });
    schemas.push(new WeakRef(p.running.gateway!.apiSchema));
    await p.running.reload(time % 2 ? sdl : withoutField(UNUSED)); // the same text again would be the same schema
  }
  await p.graphql(BRANDS, {}, { token });
  const left = async (): Promise<number> => {
    collect();
    return schemas.filter(schema => schema.deref()).length;
  };
  await until('the old schemas are collected', left, count => count === 0);
});
