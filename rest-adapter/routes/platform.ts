import { post, type RouteTable } from '../route.js';
import brands from './platform/brands.js';
import config from './platform/config.js';
import flags from './platform/flags.js';
import registry from './platform/registry.js';

const clock = post('/v1/admin/test-clock', 'setPlatformClock', 'now', "Move this service's manual clock (development and tests)");

/** Routes of the platform service. Source: contracts/platform.md, section 4. */
const table: RouteTable = { service: 'platform', routes: [...brands, ...config, ...flags, ...registry, clock] };
export default table;
