/** An address as its owner recognises it and nobody else reads it: `n•••@example.test`. */
export function maskedEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email][0]}•••${email.slice(at)}`;
}
