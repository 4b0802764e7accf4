import type { RouteTable } from '../../rest-adapter/route.js';
import { routeTables } from '../../gateway/endpoints/route-tables.js';
import type { ServiceDeclaration } from '../../runtime/service.js';
import { SERVICES } from '../../subgraphs/services.js';

/** Every service that exists. */
export const declarations: readonly ServiceDeclaration[] = await Promise.all(Object.values(SERVICES).map(load => load()));

export const tables: readonly RouteTable[] = await routeTables();
