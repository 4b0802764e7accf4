/** Any service, and any user. */
export const ANYBODY = { service: '*', user: '*' } as const;
export const BRAND_OPERATORS = { service: 'admin:platform', staff: 'admin:platform:brands' } as const;
export const CONFIG_OPERATORS = { service: 'admin:platform', staff: 'admin:platform:config' } as const;
export const FLAG_OPERATORS = { service: 'admin:platform', staff: 'admin:platform:flags' } as const;
export const REGISTRY_OPERATORS = { service: 'admin:platform', staff: 'admin:platform:services' } as const;
export const CANARY_READERS = { service: 'admin:platform', staff: 'admin:platform:read|admin:platform:services' } as const;
export const SAFE_VIEW_READERS = { service: 'admin:platform', staff: 'admin:platform:read' } as const;

/** Approvals are for people. */
export const APPROVERS = { staff: 'admin:platform:flags' } as const;

/** Services and the platform's staff see addresses and the reasons of a verdict; users do not. */
export const INSIDERS = { service: '*', staff: 'admin:platform:read' } as const;
