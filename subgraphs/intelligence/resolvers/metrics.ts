import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { METRIC_READERS } from '../entities/access.js';
import { MetaMetric, MetaMetricConnection } from '../entities/loop.js';
import { MetaMetricsArgs } from '../inputs/governance.js';
import { metricsPage } from '../queries/metrics.js';

@Resolver(() => MetaMetric)
export class MetricResolver {
  @Access(METRIC_READERS)
  @Query(() => MetaMetricConnection, {
    description: 'Metrics of the loop: the newest per metric and scope, or all with `history`. Liveness is computed when read.',
  })
  metaMetrics(@Args(() => MetaMetricsArgs) args: MetaMetricsArgs, @Ctx() ctx: Context): Promise<Connection<MetaMetric>> {
    return metricsPage(ctx, args);
  }
}
