/**
 * Sessions are seen by members with a scope for them, by services and by staff who read or write them; which of them, the query decides.
 * Source: live 4.
 */
export const READERS = { service: 'admin:live', user: 'read:live|write:live', staff: 'admin:live:read|admin:live:session' } as const;
export const VIEWERS = { service: 'admin:live', user: 'read:live', staff: 'admin:live:read' } as const;
export const ADMIN_READERS = { service: 'admin:live', staff: 'admin:live:read' } as const;

/** The host team by its own tokens, services and staff; the command asks for the role. */
export const EDITORS = { service: 'admin:live', user: 'write:live', staff: 'admin:live:session' } as const;
export const MODERATORS = { service: 'admin:live', user: 'write:live', staff: 'admin:live:moderate' } as const;
export const TEAM = { service: 'admin:live', user: 'write:live' } as const;
export const STAFF_EDITORS = { service: 'admin:live', staff: 'admin:live:session' } as const;

export const MEMBERS = { user: 'write:live' } as const;
export const MEMBER_READERS = { user: 'read:live|write:live' } as const;

/** Whoever may name them: own ones for members. */
export const REGISTRATION_READERS = READERS;
export const QUESTION_READERS = {
  service: 'admin:live',
  user: 'read:live|write:live',
  staff: 'admin:live:moderate|admin:live:read',
} as const;
export const CALLERS = { service: 'admin:live', user: 'read:live|write:live' } as const;
export const CALL_READERS = { service: 'admin:live', user: 'read:live' } as const;
/** Staff may make a call, and see what they made. */
export const CALL_SHOWN = { service: 'admin:live', user: 'read:live|write:live', staff: 'admin:live:session' } as const;

/** Comms, which tells people of sessions. */
export const COMMS = { internal: 'comms' } as const;
