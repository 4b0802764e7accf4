import { body, type RouteTable } from '../route.js';
import brands from './platform/brands.js';
import config from './platform/config.js';
import evaluation from './platform/evaluation.js';
import flags from './platform/flags.js';
import registry from './platform/registry.js';

const table: RouteTable = {
  service: 'platform',
  routes: [
    ...brands,
    ...config,
    ...evaluation,
    ...flags,
    ...registry,
    {
      method: 'POST',
      path: '/v1/admin/test-clock',
      status: [200],
      summary: "Move this service's manual clock (development and tests)",
      document: 'mutation SetPlatformClock($input: SetClockInput!) { result: setPlatformClock(input: $input) { now } }',
      variables: { input: body() },
    },
  ],
};

export default table;
