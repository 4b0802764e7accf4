/** An entry of an account, oldest first. `amount` is signed: positive raises the balance. */
export interface ExplainedEntry {
  transactionId: string;
  amount: number;
}

/**
 * What a balance is made of: reversed pairs fall out, what lowers the balance uses up the oldest of what raised it, and the rest is the
 * answer, newest first. Of a balance below zero the roles are turned round. The amounts sum to the balance.
 */
export function explain<Entry extends ExplainedEntry>(
  entries: readonly Entry[],
  cancelled: ReadonlySet<string>,
): { entry: Entry; amount: number }[] {
  const balance = entries.reduce((sum, one) => sum + one.amount, 0);
  const sign = Math.sign(balance);
  const found: { entry: Entry; amount: number }[] = [];
  let left = Math.abs(balance);
  for (const entry of [...entries].reverse()) {
    if (left === 0) break;
    if (Math.sign(entry.amount) !== sign || cancelled.has(entry.transactionId)) continue;
    const amount = Math.min(left, Math.abs(entry.amount));
    found.push({ entry, amount: sign * amount });
    left -= amount;
  }
  return found;
}
