/** argon2id parameters. Source: identity 4.1. */
export const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
