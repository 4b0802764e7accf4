import { expect, test } from 'vitest';
import { LeaseKeeper, type HeldLease, type LeaseTable } from '../../events/leases.js';
import { silent } from './support/host.js';

/** A table that gives everything that is asked for, and counts its looks. */
class Table implements LeaseTable {
  looks = 0;

  async look(): Promise<{ leases: []; instances: [] }> {
    this.looks++;
    return { leases: [], instances: [] };
  }

  async obtain(names: readonly string[]): Promise<HeldLease[]> {
    return names.map(name => ({ name, epoch: 1, crashed: false }));
  }

  release = async (): Promise<void> => undefined;
  leave = async (): Promise<void> => undefined;
}

test('sets that join while a round of leases is under way share the next one, and each holds its leases when it has joined', async () => {
  const table = new Table();
  const keeper = new LeaseKeeper({ table, holder: 'me', leaseMs: 60_000, log: silent });
  const gained: string[] = [];
  const join = async (kind: string): Promise<void> => {
    const names = [`${kind}:0`, `${kind}:1`];
    await keeper.join({ kind, names, gained: ({ name }) => void gained.push(name), lost: () => undefined });
    expect(names.map(name => keeper.held(name)?.name)).toEqual(names);
  };
  const first = join('first');
  await Promise.resolve(); // its round has begun
  await Promise.all([first, ...Array.from({ length: 80 }, (_, n) => join(`set${n}`))]);
  expect(gained).toHaveLength(162);
  expect(table.looks).toBe(2);
  await keeper.stop();
});
