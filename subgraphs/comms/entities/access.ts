const STAFF = 'admin:comms:read';

/** What a person was sent: the own, or anybody's for services and staff. Source: comms 4. */
export const MESSAGE_READERS = { service: 'admin:comms', user: 'read:inbox', staff: STAFF } as const;
/** Whoever has sent a message, as a test of a template too, reads what has become of it. */
export const MESSAGE_SHOWN = { ...MESSAGE_READERS, staff: `${STAFF}|admin:comms:send|admin:comms:template` } as const;
export const REQUEST_SHOWN = { service: 'admin:comms', staff: 'admin:comms:send|admin:comms:template', internal: true } as const;
/** Items of the app: the own, or anybody's for services. */
export const INBOX_READERS = { service: 'admin:comms', user: 'read:inbox' } as const;
/** Whoever may change an item reads what it has become. */
export const INBOX_ITEM = { service: 'admin:comms', user: 'read:inbox|manage:inbox' } as const;
/** A stream is its person's alone, whom the token names. */
export const INBOX_WATCHERS = { user: 'read:inbox' } as const;
export const INBOX_WRITERS = { user: 'manage:inbox' } as const;
export const PREFERENCE_READERS = { service: 'admin:comms', user: 'read:preferences' } as const;
/** Whoever may change preferences reads what they have become. */
export const PREFERENCES = { service: 'admin:comms', user: 'read:preferences|manage:preferences' } as const;
export const PREFERENCE_WRITERS = { service: 'admin:comms', user: 'manage:preferences' } as const;
export const DEVICE_OWNERS = { user: 'manage:preferences', firstParty: true } as const;
export const SENDERS = { service: 'admin:comms', staff: 'admin:comms:send', internal: true } as const;
export const BULK_SENDERS = { service: 'admin:comms', staff: 'admin:comms:send' } as const;
export const ADMIN_READERS = { service: 'admin:comms', staff: STAFF } as const;
export const TEMPLATE_WRITERS = { service: 'admin:comms', staff: 'admin:comms:template' } as const;
/** Templates are shown to those who write them, and to workflow, which tries one before it runs. */
export const TEMPLATE_PREVIEWERS = { ...TEMPLATE_WRITERS, internal: ['workflow'] } as const;
export const SUPPRESSORS = { service: 'admin:comms', staff: 'admin:comms:suppression' } as const;
export const SERVICES = { service: 'admin:comms' } as const;
