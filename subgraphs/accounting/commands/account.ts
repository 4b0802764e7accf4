import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move, type TransitionTable } from '../../../runtime/request/states.js';
import { LedgerAccountStatus } from '../entities/enums.js';
import { LedgerAccount } from '../entities/account.js';
import type { OpenLedgerAccountInput, UpdateLedgerAccountInput } from '../inputs/account.js';
import { chartAccount, currencyOf, normalSideOf } from '../rules/chart.js';

const { OPEN, FROZEN, CLOSED } = LedgerAccountStatus;

/** Account states by what staff do. Source: accounting 3. */
const STATES = {
  [OPEN]: { open: OPEN, frozen: FROZEN, closed: CLOSED },
  [FROZEN]: { open: OPEN, frozen: FROZEN },
  [CLOSED]: {},
} as const satisfies TransitionTable<LedgerAccountStatus, LedgerAccountStatus>;

const isCurrency = (code: string): boolean => Intl.supportedValuesOf('currency').includes(code);

/** @throws Problem conflict for a code that is taken; invalid_request for one of a user's wallet, which is opened by its first use. */
export async function openAccount(ctx: Context, input: OpenLedgerAccountInput): Promise<LedgerAccount> {
  const currency = currencyOf(input.code)!;
  if (!isCurrency(currency)) invalid('/input/code', 'must end with an ISO 4217 currency');
  const known = chartAccount(input.code);
  if (known?.userId) invalid('/input/code', 'is of a user; it is opened by its first use');
  if (known && known.type !== input.type) invalid('/input/type', `must be ${known.type}, as the chart says`);
  if (await findRow(ctx, LedgerAccount, { code: input.code })) fail('conflict', 'The code is taken', { reason: 'code_taken' });
  const { code, name, type, floor } = input;
  const normalSide = input.normalSide ?? known?.normalSide ?? normalSideOf(type);
  const account = Object.assign(new LedgerAccount(), {
    code,
    name,
    type,
    normalSide,
    currency,
    floor: floor ?? null,
    createdAt: ctx.now(),
  });
  ctx.em.persist(account);
  ctx.audit('ledger_account.opened', account.id, { code });
  return account;
}

function changeStatus(account: LedgerAccount, status: LedgerAccountStatus): void {
  account.status = move(STATES, 'ledger account', account.status, status);
  const isEmpty = account.balance.amount === 0 && account.pendingDebits === 0 && account.pendingCredits === 0;
  if (status === CLOSED && !isEmpty) fail('conflict', 'The account still has a balance', { reason: 'not_empty' });
}

function changeFloor(account: LedgerAccount, floor: number | null): void {
  if (floor !== null && floor > account.available.amount)
    fail('conflict', 'The floor is above what is available', { reason: 'insufficient_funds' });
  account.floor = floor;
}

/** Changes name, status or floor. @throws Problem not_found, conflict. */
export async function updateAccount(ctx: Context, { id, name, status, floor }: UpdateLedgerAccountInput): Promise<LedgerAccount> {
  const account = await lockRow(ctx, LedgerAccount, { id });
  if (name != null) account.name = name;
  if (status != null) changeStatus(account, status);
  if (floor !== undefined) changeFloor(account, floor);
  ctx.audit('ledger_account.updated', id, { status: account.status, floor: account.floor });
  return account;
}
