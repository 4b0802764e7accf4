/** Until every service imports it from where it is declared. */
export type { ServiceHost } from './request/context.js';
