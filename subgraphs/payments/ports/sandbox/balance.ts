import type { BalancePage, BalanceTransaction, ProcessorResult } from '../processor.js';
import type { SandboxObject } from './objects.js';
import type { SandboxTransaction } from './store.js';

const PAGE = 100;

const shown = ({ id, data, createdAt }: SandboxObject<'balance'>): BalanceTransaction => ({ id, ...data, createdAt });

const cursorOf = ({ id, createdAt }: SandboxObject): string => `${createdAt.toISOString()} ${id}`;

export async function listBalanceTransactions(
  tx: SandboxTransaction,
  { from, to, cursor }: { from: Date; to: Date; cursor: string | null },
): Promise<ProcessorResult<BalancePage>> {
  const after = cursor === null ? null : (cursor.split(' ', 2) as [string, string]);
  const rows = await tx.page('balance', from, to, after, PAGE + 1);
  const items = rows.slice(0, PAGE);
  return { status: 'succeeded', data: { items: items.map(shown), nextCursor: rows.length > PAGE ? cursorOf(items.at(-1)!) : null } };
}
