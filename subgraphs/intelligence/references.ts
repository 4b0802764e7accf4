import { rowReferences } from '../../runtime/data/references.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { LOOP_RUNNERS, READERS } from './entities/access.js';
import { LoopDecision } from './entities/decision.js';
import { LoopProposal, LoopTick } from './entities/loop.js';
import { RankingPolicy } from './entities/policy.js';
import { RegistryVersion } from './entities/registry.js';

/** Types of others: services only; the fields that are added have rules of their own. */
const pointed: ReferenceLoader = async ({ caller }, keys) => keys.map(key => (caller.kind === 'user' ? null : key));

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  RankingPolicy: rowReferences(RankingPolicy, { readers: READERS }),
  RegistryVersion: rowReferences(RegistryVersion, { readers: READERS }),
  LoopDecision: rowReferences(LoopDecision, { readers: READERS }),
  LoopTick: rowReferences(LoopTick, { readers: LOOP_RUNNERS }),
  LoopProposal: rowReferences(LoopProposal, { readers: READERS }),
  User: pointed,
  Brand: pointed,
  FeatureFlag: pointed,
};
