/** argon2id parameters. Source: identity 4.1. */
export const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const CURRENT = `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}$`;

/** Whether a PHC string was made with today's parameters. */
export const isCurrentHash = (phc: string): boolean => phc.startsWith(CURRENT);

const SHORTEST = 10;
const LONGEST = 128;

/** What is wrong with the length of a password in NFC, counted in code points; null: nothing. Source: identity 4.1. */
export function lengthFault(password: string): string | null {
  const { length } = [...password];
  if (length < SHORTEST) return `Use at least ${SHORTEST} characters.`;
  return length > LONGEST ? `Use at most ${LONGEST} characters.` : null;
}
