import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { BiomarkerCategory as Category } from '../entities/biomarker.js';
import {
  HealthScoreBand as Band,
  type HealthScoreComponent,
  HealthScoreStatus as Status,
  HealthScoreTrend as Trend,
} from '../entities/health-score.js';
import { roundHalfEven } from '../entities/rounding.js';
import type { ValueRange } from '../entities/units.js';

/** The newest result of a marker, with the ranges that judged it. */
export interface ScoredResult {
  code: string;
  category: Category;
  /** Canonical unit, more than 0. */
  value: number;
  optimal: ValueRange | null;
  reference: ValueRange | null;
  ageDays: number;
}

/** Weights of a model version: what is not named has weight 1. */
export interface ScoreModel {
  version: string;
  markers: Readonly<Record<string, number>>;
  categories: Readonly<Partial<Record<Category, number>>>;
}

/** Markers with more evidence for years of healthy life weigh more; the numbers are a house default. */
export const SCORE_MODEL: ScoreModel = {
  version: '2026-11',
  markers: { apob: 2, hba1c: 2, hs_crp: 1.5, ldl_c: 1.5 },
  categories: { [Category.LIPIDS]: 2, [Category.METABOLIC]: 2, [Category.INFLAMMATION]: 1.5 },
};

/** A result that is older does not count. */
export const FRESH_DAYS = 365;
/** A result counts half after so many days. */
const HALF_LIFE_DAYS = 180;
const LEAST_MARKERS = 5;
const LEAST_CATEGORIES = 2;
/** Share of the markers from which a score is complete. */
const COMPLETE = 0.8;
/** Where a side has no reference edge it lies so far from the optimal one. */
const STAND_IN = 1.3;
const EDGE_SCORE = 60;
const FLAT = 2;

/** Subscore of a distance: x times beyond its optimal edge o, with the reference edge r (all at least 1). */
function beyond(x: number, o: number, r: number): number {
  if (x > r || r <= o) return EDGE_SCORE * Math.exp(-Math.log(x / Math.max(r, o)) / Math.log(1.5));
  return 100 - (100 - EDGE_SCORE) * (Math.log(x / o) / Math.log(r / o));
}

/** One side of a marker; the lower one is the upper one of the reciprocals. */
function side(x: number, optimal: number | null, reference: number | null, hasOptimal: boolean): number {
  if (hasOptimal) {
    if (optimal === null || x <= optimal) return 100;
    return beyond(x, optimal, reference ?? optimal * STAND_IN);
  }
  return reference === null || x <= reference ? 100 : beyond(x, reference, reference);
}

const inverse = (value: number | null | undefined): number | null => (value ? 1 / value : null);

/**
 * Subscore 0..100 of a result: 100 inside the optimal range, 60 at the reference edge, falling beyond it; null without any range.
 * Source: clinical 7.3.1.
 */
export function subscore({ value, optimal, reference }: Pick<ScoredResult, 'value' | 'optimal' | 'reference'>): number | null {
  if (!(value > 0) || (!optimal && !reference)) return null;
  const above = side(value, optimal?.high ?? null, reference?.high ?? null, optimal !== null);
  const below = side(1 / value, inverse(optimal?.low), inverse(reference?.low), optimal !== null);
  return Math.min(above, below);
}

const freshness = (ageDays: number): number => 0.5 ** (ageDays / HALF_LIFE_DAYS);

interface Weighted {
  value: number;
  weight: number;
}

function mean(parts: readonly Weighted[]): number {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  return parts.reduce((sum, { value, weight }) => sum + value * weight, 0) / total;
}

interface Scored extends ScoredResult {
  subscore: number;
}

/** A category's markers with what they come to, not rounded. */
interface Group {
  category: Category;
  rows: readonly Scored[];
  value: number;
  weight: number;
}

function groupOf(category: Category, scored: readonly Scored[], model: ScoreModel): Group {
  const rows = scored.filter(row => row.category === category);
  const value = mean(rows.map(row => ({ value: row.subscore, weight: (model.markers[row.code] ?? 1) * freshness(row.ageDays) })));
  return { category, rows, value, weight: model.categories[category] ?? 1 };
}

function componentOf({ category, rows, value, weight }: Group): HealthScoreComponent {
  const contributors = rows.map(row => ({
    code: row.code,
    subscore: roundHalfEven(row.subscore, 1),
    freshnessDays: Math.floor(row.ageDays),
  }));
  return { category, score: roundHalfEven(value, 1), weight, contributors };
}

export interface ComputedScore {
  status: Status;
  score: number | null;
  band: Band | null;
  coverage: number;
  components: HealthScoreComponent[];
}

export function bandOf(score: number): Band {
  if (score < 50) return Band.LOW;
  if (score < 70) return Band.FAIR;
  return score < 85 ? Band.GOOD : Band.OPTIMAL;
}

/** FIRST without an earlier score; less than 2 points is FLAT. */
export function trendOf(before: number | null, now: number): Trend {
  if (before === null) return Trend.FIRST;
  if (Math.abs(now - before) < FLAT) return Trend.FLAT;
  return now > before ? Trend.UP : Trend.DOWN;
}

/** The score of a patient's newest results: same results and model, same score. Source: clinical 7.3.1. */
export function scoreOf(results: readonly ScoredResult[], markersKnown: number, model: ScoreModel = SCORE_MODEL): ComputedScore {
  const scored = results
    .filter(row => row.ageDays <= FRESH_DAYS)
    .map(row => ({ ...row, subscore: subscore(row) }))
    .filter((row): row is Scored => row.subscore !== null)
    .sort((a, b) => (a.code < b.code ? -1 : 1));
  const categories = Object.values(Category).filter(one => scored.some(row => row.category === one));
  const groups = categories.map(one => groupOf(one, scored, model));
  const coverage = markersKnown === 0 ? 0 : roundHalfEven(Math.min(1, scored.length / markersKnown), 4);
  const components = groups.map(componentOf);
  if (scored.length < LEAST_MARKERS || categories.length < LEAST_CATEGORIES)
    return { status: Status.INSUFFICIENT_DATA, score: null, band: null, coverage, components };
  const score = roundHalfEven(mean(groups), 1);
  return { status: coverage >= COMPLETE ? Status.COMPLETE : Status.PARTIAL, score, band: bandOf(score), coverage, components };
}

/** A score is announced again without a change after so long. */
const NEWS_AGAIN_MS = 30 * DAY_MS;

/** A new score is announced when its band is another one than the last announced, or 30 days have passed. Source: clinical 5. */
export function isNews(band: Band | null, announced: { band: Band | null; at: Date } | null, now: Date): boolean {
  if (band === null) return false;
  return announced === null || announced.band !== band || now >= after(announced.at, NEWS_AGAIN_MS);
}
