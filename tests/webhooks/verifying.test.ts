import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { DEMO, freePort, platform, type TestPlatform } from '../support/platform.js';
import type { Received } from '../support/receiver.js';
import { until } from '../support/until.js';
import { call, PROTOCOL, protocolBegan, subscribe, untilStatuses } from './fixture.js';

/** Runs the code that WEBHOOKS.md tells a developer to paste. */
let p: TestPlatform;
let folder: string;
let snippets: Record<'js' | 'python' | 'sh', string>;

beforeAll(async () => {
  const text = await readFile(join(import.meta.dirname, '../../WEBHOOKS.md'), 'utf8');
  const blockOf = (language: string): string => text.match(new RegExp('```' + language + '\\n([^]*?)```'))![1]!;
  snippets = { js: blockOf('js'), python: blockOf('python'), sh: blockOf('sh') };
  folder = await mkdtemp(join(tmpdir(), 'platform-snippets-'));
  atEnd(() => rm(folder, { recursive: true }));
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run' });
});

/** Subscribes a free port, then starts the pasted receiver there with the secret that was shown. */
async function paste(command: string, file: string, source: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/hook`;
  const subscription = await subscribe(p, url, [PROTOCOL]);
  await writeFile(join(folder, file), source);
  const child = spawn(command, [join(folder, file)], {
    env: { PATH: process.env.PATH, WEBHOOK_SECRET: subscription.signing_secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  const post = (body: string, signature: string) =>
    fetch(url, { method: 'POST', body, headers: { 'X-Platform-Signature': signature } }).then(
      answer => answer.status,
      () => 0,
    );
  const stop = async (): Promise<void> => {
    const gone = once(child, 'exit');
    child.kill();
    await gone;
    await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  };
  return { subscription, post, stop, printed: () => printed };
}

test.each([
  ['Node', process.execPath, 'receiver.mjs', 'js'],
  ['Python', 'python3', 'receiver.py', 'python'],
] as const)('the receiver of WEBHOOKS.md in %s takes what is genuine and refuses what is not', async (_name, command, file, language) => {
  const { subscription, post, stop, printed } = await paste(command, file, snippets[language]);
  await until(
    'the receiver to refuse',
    () => post('{}', 'ab'.repeat(32)),
    status => status === 401,
  );
  for (const signature of ['', 'ä', 'zz', '0']) expect(await post('{}', encodeURI(signature))).toBe(401);
  const id = await protocolBegan(p, DEMO);
  await untilStatuses(p, subscription.id, ['delivered']);
  expect(printed()).toBe(`${id} ${PROTOCOL} ${DEMO}\n`);
  await stop();
});

/** A delivery to a receiver of the tests. */
async function delivered(more: object = {}): Promise<{ secret: string; id: string; one: Received; next(): Promise<Received> }> {
  const receiver = await p.receiver();
  const { signing_secret, id } = await subscribe(p, receiver.url, [PROTOCOL], more);
  const next = async (): Promise<Received> => {
    const count = receiver.received.length;
    await protocolBegan(p, DEMO);
    return (await receiver.until(all => all.length > count))[count]!;
  };
  return { secret: signing_secret, id, one: await next(), next };
}

test('the shell lines of WEBHOOKS.md tell what is genuine from what is not', async () => {
  const { secret, one } = await delivered();
  const run = async (body: Buffer): Promise<string> => {
    await writeFile(join(folder, 'body.json'), body);
    const env = { PATH: process.env.PATH, WEBHOOK_SECRET: secret, SIGNATURE: String(one.headers['x-platform-signature']) };
    return execFileSync('sh', ['-c', snippets.sh], { cwd: folder, env, encoding: 'utf8' }).trim();
  };
  expect(await run(one.raw)).toBe('genuine');
  expect(await run(Buffer.concat([one.raw, Buffer.from(' ')]))).toBe('forged');
});

describe.each([
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
])('the library %s', (_name, Webhook) => {
  const verify = (secret: string, { raw, headers }: Received): unknown =>
    new Webhook(secret).verify(raw.toString('utf8'), headers as Record<string, string>);

  test('verifies the optional Standard Webhooks headers', async () => {
    const { secret, one } = await delivered({ standard_headers: true });
    expect(verify(secret, one)).toEqual(one.body);
    expect(() => verify(secret, { ...one, raw: Buffer.concat([one.raw, Buffer.from(' ')]) })).toThrow(/signature/i);
  });

  test('verifies them with either secret while one is being rotated', async () => {
    const { secret, id, next } = await delivered({ standard_headers: true });
    const { body } = await call(p, 'POST', `/v1/webhook-subscriptions/${id}/rotate-secret`, { overlap_hours: 1, activation: 'immediate' });
    const one = await next();
    expect(verify(secret, one)).toEqual(one.body);
    expect(verify(body.signing_secret, one)).toEqual(one.body);
  });
});
