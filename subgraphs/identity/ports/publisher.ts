import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const BRANDS = stored('query ClientPublishers { brands(first: 100) { nodes { id name } } }');

/** The names of brands are asked again after so long, ms. */
const KEPT_MS = 60_000;

interface Names {
  byId: ReadonlyMap<string, string>;
  askedAt: number;
}
const known = new WeakMap<ServiceHost, Names>();

/** Of brands by id; the ones that were told last while platform cannot say. */
async function brandNames(host: ServiceHost): Promise<Names['byId']> {
  const kept = known.get(host);
  if (kept && performance.now() - kept.askedAt < KEPT_MS) return kept.byId;
  const answer = await host.federation.run<{ brands: { nodes: { id: string; name: string }[] } }>(BRANDS).catch(() => null);
  if (!answer) return kept?.byId ?? new Map();
  const byId = new Map(answer.brands.nodes.map(({ id, name }) => [id, name]));
  known.set(host, { byId, askedAt: performance.now() });
  return byId;
}

/** A client as far as its publisher is concerned. */
interface Published {
  firstParty: boolean;
  brandId: string | null;
  /** As registered. */
  publisher: string;
}

/** Who publishes an app, as people read it: of an app of ours the brand, whatever was registered. Source: identity 2. */
export const publisherOf = async (host: ServiceHost, { firstParty, brandId, publisher }: Published): Promise<string> =>
  (firstParty && brandId !== null ? (await brandNames(host)).get(brandId) : undefined) ?? publisher;
