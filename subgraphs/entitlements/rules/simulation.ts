import { isDeepStrictEqual } from 'node:util';
import type { Entitlement } from '../entities/entitlement.js';
import type { EntitlementSimulation } from '../entities/tier.js';

/** Now and then, feature by feature, parted by what it means. */
export function compared(
  pairs: readonly (readonly [now: Entitlement, then: Entitlement])[],
  isGranted: (one: Entitlement) => boolean,
): EntitlementSimulation {
  const differing = pairs.filter(([now, then]) => !isDeepStrictEqual(now, then));
  return {
    gained: differing.filter(([now, then]) => !isGranted(now) && isGranted(then)).map(([, then]) => then),
    lost: differing.filter(([now, then]) => isGranted(now) && !isGranted(then)).map(([now]) => now),
    changed: differing
      .filter(([now, then]) => isGranted(now) === isGranted(then) && isGranted(now))
      .map(([from, to]) => ({ key: from.key, from, to })),
  };
}
