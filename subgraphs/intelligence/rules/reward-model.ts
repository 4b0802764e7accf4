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

/** XᵀX, by rows of the matrix, and Xᵀy of one action; the constant is the first feature. */
interface Sums {
  xx: Float64Array;
  xy: Float64Array;
}

function add({ xx, xy }: Sums, { x, reward }: RewardRow): void {
  const width = xy.length;
  for (let i = 0; i < width; i++) {
    const left = i === 0 ? 1 : x[i - 1]!;
    if (left === 0) continue; // features are mostly indicators
    xy[i]! += left * reward;
    xx[i * width]! += left;
    for (let j = 1; j < width; j++) xx[i * width + j]! += left * x[j - 1]!;
  }
}

/** (XᵀX + λI) w = Xᵀy. Source: Hoerl and Kennard 1970. */
function ridge({ xx, xy }: Sums): number[] {
  const width = xy.length;
  return solve(Matrix.from1DArray(width, width, xx).add(Matrix.eye(width, width).mul(RIDGE)), Matrix.columnVector(xy)).to1DArray();
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** A ridge regression for each action; an action that was never seen is worth the mean. */
function fitRewardModel(rows: readonly RewardRow[]): RewardModel {
  const size = rows[0]?.x.length ?? 0;
  const average = rows.length === 0 ? 0 : rows.reduce((sum, { reward }) => sum + reward, 0) / rows.length;
  const sums = new Map<string, Sums>();
  for (const row of rows) {
    const own = sums.get(row.action) ?? { xx: new Float64Array((size + 1) ** 2), xy: new Float64Array(size + 1) };
    sums.set(row.action, own);
    add(own, row);
  }
  const weights = new Map([...sums].map(([action, own]) => [action, ridge(own)] as const));
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
