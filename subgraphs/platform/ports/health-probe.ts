import { request } from 'undici';
import type { Slug } from '../../../events/slugs.js';
import { FetchRefused, guardedFetch } from '../../../runtime/http/guarded-fetch.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { CheckResult, ServiceCheck } from '../entities/health.js';
import { SLOW_MS } from '../rules/health.js';
import { settingsOf } from './settings.js';

/** One look at a service; `absent`: nothing is deployed at its address. */
export interface Probe {
  slug: string;
  /** Address in the registry that was asked. */
  baseUrl: string | null;
  result: CheckResult | 'absent';
  latencyMs: number;
  checks: ServiceCheck[];
}

const DEADLINE_MS = 2_000;
const MAX_BYTES = 65_536;

interface Seen {
  status: number;
  checks: ServiceCheck[];
}

function checksIn(text: string): ServiceCheck[] {
  const { checks } = JSON.parse(text) as { checks?: Record<string, unknown> };
  return Object.entries(checks ?? {})
    .slice(0, 50)
    .map(([name, status]) => ({ name: name.slice(0, 64), status: String(status).slice(0, 32) }));
}

/** An address of the configuration; redirects are not followed. */
async function askOwn(url: string): Promise<Seen> {
  const answer = await request(url, { signal: AbortSignal.timeout(DEADLINE_MS), headers: { accept: 'application/json' } });
  const text = await answer.body.text();
  return { status: answer.statusCode, checks: text.length <= MAX_BYTES && answer.statusCode !== 404 ? checksIn(text) : [] };
}

/** An address of the registry: a foreign one, of which only checked ones can be connected to. */
async function askForeign(url: string, host: ServiceHost): Promise<Seen> {
  const limits = {
    deadlineMs: DEADLINE_MS,
    maxBytes: MAX_BYTES,
    redirects: 0,
    accept: 'application/json',
    allowed: settingsOf(host).internal,
  };
  const body = await guardedFetch(url, limits);
  return { status: 200, checks: checksIn(body.toString('utf8')) };
}

const without = (url: string): string => url.replace(/\/+$/, '');

function ask(host: ServiceHost, slug: string, baseUrl: string | null): Promise<Seen> {
  const { subgraphUrls, baseUrl: own } = host.config;
  if (baseUrl !== null) return askForeign(`${without(baseUrl)}/readyz`, host);
  return askOwn(`${subgraphUrls[slug as Slug] ?? own}/${slug}/readyz`);
}

const resultOf = ({ status }: Seen, latencyMs: number): Probe['result'] => {
  if (status === 404) return 'absent';
  if (status !== 200) return 'failed';
  return latencyMs > SLOW_MS ? 'slow' : 'ok';
};

/** Asks a service whether it is ready; never throws. Source: platform, rule 9. */
export async function probe(host: ServiceHost, slug: string, baseUrl: string | null): Promise<Probe> {
  const started = performance.now();
  try {
    const seen = await ask(host, slug, baseUrl);
    const latencyMs = Math.round(performance.now() - started);
    return { slug, baseUrl, result: resultOf(seen, latencyMs), latencyMs, checks: seen.checks };
  } catch (error) {
    const checks = error instanceof FetchRefused ? [{ name: error.reason, status: 'failing' }] : [];
    return { slug, baseUrl, result: 'failed', latencyMs: Math.round(performance.now() - started), checks };
  }
}
