/**
 * How fast the two APIs are, as ratios measured in one run: a REST read and a GraphQL point read of the platform against a bare
 * Fastify handler that answers the same bytes, and against plain @apollo/gateway calling the same subgraphs over HTTP.
 *
 *   npm run bench:endpoints                 three rounds of five seconds each
 *   npm run bench:endpoints -- --rounds 1 --seconds 2 --connections 20
 *
 * The servers are processes of their own; the load comes from this one. Rounds are interleaved and medians are shown, because a
 * shared machine drifts. Absolute figures say little; the ratios hold.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, freePort, jsonFile, start, stopAll, table } from './measure.mjs';

const here = import.meta.dirname;

async function tokenOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  const answer = await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body });
  return (await answer.json()).access_token;
}

const GRAPHQL = JSON.stringify({
  query: 'query Point($slug: String!) { brand(slug: $slug) { id slug name status defaultLocale } }',
  variables: { slug: process.env.BENCH_BRAND ?? 'main' },
});

async function main() {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const [platformPort, barePort, apolloPort] = [await freePort(), await freePort(), await freePort()];
  const [base, bare, apollo] = [platformPort, barePort, apolloPort].map(port => `http://localhost:${port}`);
  try {
    await start(
      join(here, '../dist/gateway/main.js'),
      { PORT: String(platformPort), DATA_DIR: dataDir, LOG_LEVEL: 'error' },
      `${base}/platform/readyz`,
    );
    const headers = { authorization: `Bearer ${await tokenOf(base)}` };
    const path = `/platform/v1/brands/${process.env.BENCH_BRAND ?? 'main'}`;
    const post = { method: 'POST', body: GRAPHQL, headers: { ...headers, 'content-type': 'application/json' } };
    const rest = await (await fetch(base + path, { headers })).text();
    const graphql = await (await fetch(`${base}/graphql`, { ...post })).text();
    const answers = join(dataDir, 'answers.json');
    await writeFile(answers, JSON.stringify({ [path]: rest, '/graphql': graphql }));
    await start(join(here, 'servers/bare.mjs'), { PORT: String(barePort), ANSWERS: answers }, `${bare}${path}`);
    await start(join(here, 'servers/plain-apollo.mjs'), { PORT: String(apolloPort), SUBGRAPHS: base }, `${apollo}/ready`);
    const rows = [
      ...(await compare('REST read', [
        { name: 'platform', url: base + path, headers },
        { name: 'bare Fastify', url: bare + path, headers },
      ])),
      ...(await compare('GraphQL point read', [
        { name: 'platform', url: `${base}/graphql`, ...post },
        { name: 'bare Fastify', url: `${bare}/graphql`, ...post },
        { name: 'plain @apollo/gateway', url: `${apollo}/graphql`, ...post },
      ])),
    ];
    process.stdout.write(`${table(rows)}\n`);
    if (jsonFile) await writeFile(jsonFile, JSON.stringify(rows, null, 2));
  } finally {
    await stopAll();
    await rm(dataDir, { recursive: true, force: true });
  }
}

await main();
