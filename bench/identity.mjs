/**
 * How fast identity is, as ratios measured in one run: client_credentials answers of the platform against plain oidc-provider with its
 * in-memory adapter (the same engine, without storage, revocation, audit and events), and verifications on one core against bare jose.
 *
 *   npm run bench:identity                 three rounds of five seconds each
 *   npm run bench:identity -- --rounds 1 --seconds 2 --connections 20
 *
 * `DATABASE_URL` names an empty database of yours; without it the platform brings its own PostgreSQL, which shares the machine.
 */
import autocannon from 'autocannon';
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier } from '../dist/runtime/access/token.js';
import { Revocations } from '../dist/runtime/access/revocations.js';
import { compare, connections, freePort, jsonFile, seconds, start, stopAll, table, underLoad } from './measure.mjs';

const here = import.meta.dirname;
const TOKENS = 6_000;
const [issuer, audience] = ['https://bench.example/identity', 'urn:platform:api'];

const CREDENTIALS = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: 'demo-m2m',
  client_secret: 'demo-m2m-secret',
  scope: 'admin:clinical',
}).toString();
const asks = url => ({ url, method: 'POST', body: CREDENTIALS, headers: { 'content-type': 'application/x-www-form-urlencoded' } });

const TICKS_PER_SECOND = 100;
/** Requests until the compiler has done its work; by number, because a busy machine does few in any time. */
const WARM_UP = 5_000;

/** CPU that a process has used, s: user and system time. Source: proc(5). */
async function cpuOf(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Answers per second of CPU time of the server, so that other load on the machine does not count. Per second of wall time on other systems than Linux. */
async function perCore(work) {
  if (process.platform !== 'linux') return underLoad(work);
  await autocannon({ ...work, connections, amount: WARM_UP });
  const before = await cpuOf(work.pid);
  const result = await autocannon({ ...work, connections, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${work.url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return { rps: result.requests.total / ((await cpuOf(work.pid)) - before), p50: result.latency.p50, p99: result.latency.p99 };
}

/** Work of one core for a while, one after the other. */
async function onOneCore({ work }) {
  const until = performance.now() + seconds * 1000;
  const started = performance.now();
  let done = 0;
  while (performance.now() < until) for (let count = 0; count < 100; count++, done++) await work(done);
  return { rps: (done * 1000) / (performance.now() - started), p50: null, p99: null };
}

async function verifications() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] });
  const server = createServer((_request, response) => response.end(keySet));
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const jwksUrl = `http://127.0.0.1:${server.address().port}/jwks`;
  const sign = index =>
    new SignJWT({ client_id: 'demo-m2m', token_use: 'service', scope: 'admin:clinical', csi: 'x', jti: `t${index}` })
      .setProtectedHeader({ typ: 'at+jwt', alg: 'ES256', kid: 'k1' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('demo-m2m')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  const tokens = await Promise.all(Array.from({ length: TOKENS }, (_, index) => sign(index)));
  const revocations = new Revocations(async () => [], { warn: () => undefined, error: () => undefined });
  const verifier = createVerifier({ issuer, audience, jwksUrl: () => jwksUrl }, revocations);
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  try {
    return await compare(
      'verify a token on one core',
      [
        { name: 'platform, token not seen before', work: index => verifier.verify(`svc_${tokens[index % TOKENS]}`) }, // more tokens than it remembers
        {
          name: 'bare jose',
          work: index => jwtVerify(tokens[index % TOKENS], keys, { algorithms: ['ES256'], typ: 'at+jwt', issuer, audience }),
        },
        { name: 'platform, token seen before', work: () => verifier.verify(`svc_${tokens[0]}`) },
      ],
      onOneCore,
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function main() {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const [platformPort, plainPort] = [await freePort(), await freePort()];
  const [base, plain] = [platformPort, plainPort].map(port => `http://localhost:${port}`);
  try {
    const platformPid = await start(
      join(here, '../dist/gateway/main.js'),
      { PORT: String(platformPort), DATA_DIR: dataDir, LOG_LEVEL: 'error' },
      `${base}/identity/readyz`,
    );
    const plainPid = await start(
      join(here, 'servers/plain-oidc.mjs'),
      { PORT: String(plainPort), NODE_ENV: 'test' },
      `${plain}/.well-known/openid-configuration`,
    );
    const rows = [
      ...(await compare(
        'client_credentials',
        [
          { name: 'platform', pid: platformPid, ...asks(`${base}/identity/v1/oauth/token`) },
          { name: 'plain oidc-provider', pid: plainPid, ...asks(`${plain}/token`) },
        ],
        perCore,
      )),
      ...(await verifications()),
    ];
    process.stdout.write(`${table(rows, 'per second of a core')}\n`);
    if (jsonFile) await writeFile(jsonFile, JSON.stringify(rows, null, 2));
  } finally {
    await stopAll();
    await rm(dataDir, { recursive: true, force: true });
  }
}

await main();
