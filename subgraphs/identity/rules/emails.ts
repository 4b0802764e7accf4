/** What can be an e-mail address: one `@`, no white space, no control characters. */
export const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,189}$/u;

/** An address as it is compared: NFC, lower case. */
export const emailKey = (email: string): string => email.normalize('NFC').toLowerCase();

/** An address as its owner recognises it and nobody else reads it: `n•••@example.test`. */
export function maskedEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email][0]}•••${email.slice(at)}`;
}
