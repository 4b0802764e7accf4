import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';

const BROKEN_INTO = 'lantern orbit cactus 27';
const PADDING = 'harbour violin meadow 31';

let p: TestPlatform;
let asked: string[] = [];
let answers = true;

const digestOf = (password: string): string => createHash('sha1').update(password).digest('hex').toUpperCase();

/** A range API that knows one password, and another one as padding. */
async function rangeApi(): Promise<string> {
  const lines = [`${digestOf(BROKEN_INTO).slice(5)}:3`, `${digestOf(PADDING).slice(5)}:0`];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    response.writeHead(answers ? 200 : 503).end(lines.join('\r\n'));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`;
}

beforeAll(async () => {
  p = await platform({
    services: ['identity'],
    env: { BREACHED_PASSWORDS_URL: await rangeApi(), IDENTITY_EGRESS_ALLOW_CIDRS: '127.0.0.1/32' },
  });
});
beforeEach(() => {
  [asked, answers] = [[], true];
});

const CHANGE = 'mutation($input: ChangePasswordInput!) { changePassword(input: $input) { __typename } }';

/** Messages of what is wrong with a new password. */
async function faultsOf(newPassword: string): Promise<string[]> {
  const input = { newPassword };
  const { errors } = await p.graphql(CHANGE, { input }, { token: await p.userToken(DEMO, ['read:account']) });
  return (errors ?? []).flatMap(error => (error.extensions.errors ?? []).map(one => one.message));
}

describe('a range API of breached passwords', () => {
  test('is told five digits of a hash and nothing else, and what it knows is refused', async () => {
    expect(await faultsOf(BROKEN_INTO)).toEqual([expect.stringContaining('known from break-ins')]);
    expect(asked).toEqual([`/range/${digestOf(BROKEN_INTO).slice(0, 5)}`]);
  });

  test('is not asked about what the bundled list knows already', async () => {
    expect(await faultsOf('1234567890')).toEqual([expect.stringContaining('known from break-ins')]);
    expect(asked).toEqual([]);
  });

  test('pads its answers with hashes that have a count of 0', async () => {
    expect(await faultsOf(PADDING)).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  test('keeps nobody out where it does not answer', async () => {
    answers = false;
    expect(await faultsOf(BROKEN_INTO)).toEqual([]);
    expect(asked).toHaveLength(1);
  });
});
