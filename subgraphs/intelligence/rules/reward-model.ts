import { Matrix, solve } from 'ml-matrix';

/** One observed reward of an action in a context. */
export interface RewardRow {
  action: string;
  x: readonly number[];
  reward: number;
}

/** Expected reward of an action in a context. */
export type RewardModel = (x: readonly number[], action: string) => number;

const RIDGE = 1;

/** (XᵀX + λI) w = Xᵀy, with the constant as the first feature. Source: Hoerl and Kennard 1970. */
function ridge(rows: readonly RewardRow[], size: number): number[] {
  const a = Matrix.eye(size + 1, size + 1).mul(RIDGE);
  const b = Matrix.zeros(size + 1, 1);
  for (const { x, reward } of rows) {
    const full = [1, ...x];
    for (let i = 0; i <= size; i++) {
      b.set(i, 0, b.get(i, 0) + full[i]! * reward);
      for (let j = 0; j <= size; j++) a.set(i, j, a.get(i, j) + full[i]! * full[j]!);
    }
  }
  return solve(a, b).to1DArray();
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** A ridge regression for each action; an action that was never seen is worth the mean. */
function fitRewardModel(rows: readonly RewardRow[]): RewardModel {
  const size = rows[0]?.x.length ?? 0;
  const average = rows.length === 0 ? 0 : rows.reduce((sum, { reward }) => sum + reward, 0) / rows.length;
  const actions = [...new Set(rows.map(({ action }) => action))];
  const weights = new Map(
    actions.map(
      action =>
        [
          action,
          ridge(
            rows.filter(row => row.action === action),
            size,
          ),
        ] as const,
    ),
  );
  return (x, action) => {
    const w = weights.get(action);
    return w ? clamp(x.reduce((sum, value, index) => sum + value * w[index + 1]!, w[0]!)) : average;
  };
}

/** For each row the model of the fold that it is not in: 2 folds, cut by `foldOf`. Source: Chernozhukov et al. 2018; intelligence 7.2. */
export function crossFit(rows: readonly RewardRow[], foldOf: (index: number) => 0 | 1): (index: number) => RewardModel {
  const models = [0, 1].map(fold => fitRewardModel(rows.filter((_, index) => foldOf(index) !== fold)));
  return index => models[foldOf(index)]!;
}
