import { composeServices } from '@apollo/composition';
import { prettyFormatQueryPlan } from '@apollo/query-planner';
import { parse } from 'graphql';
import { test } from 'vitest';
import { loadSupergraph } from '../../gateway/plans/supergraph.js';
import { createLogger } from '../../runtime/observe/log.js';
import { SUITES } from './federation/suites.js';
const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key", "@shareable", "@external", "@requires", "@provides", "@inaccessible", "@override", "@interfaceObject", "@extends"])\n';
test.each(SUITES)('$name', async ({ subgraphs, queries }) => {
  const composed = composeServices(Object.entries(subgraphs).map(([name, { sdl }]) => ({ name, typeDefs: parse(LINK + sdl), url: `http://${name}.invalid` })));
  if (!composed.supergraphSdl) return;
  const { planner } = await loadSupergraph(composed.supergraphSdl, createLogger('silent'));
  for (const { query } of queries.filter(q => (process.env.Q ? q.query.includes(process.env.Q) : true))) {
    const { node } = planner.plan(parse(query), undefined);
    console.log(query + '\n' + prettyFormatQueryPlan({ kind: 'QueryPlan', node } as never));
  }
});
