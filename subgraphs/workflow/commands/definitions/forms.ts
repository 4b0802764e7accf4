/** A person confirms that it is done; what was found stands in the service that owns it. */
export const CONFIRMATION = {
  type: 'object',
  required: ['done'],
  additionalProperties: false,
  properties: { done: { const: true } },
} as const;

/** Yes or no. */
export const DECISION = {
  type: 'object',
  required: ['confirmed'],
  additionalProperties: false,
  properties: { confirmed: { type: 'boolean' } },
} as const;
