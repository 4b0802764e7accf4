/** Report of a run: a table of each workload, and the goals beside the ratios, which are also written into bench/README.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VARIANTS } from './variants.mjs';

const README = join(import.meta.dirname, '../README.md');
const RESULTS = join(import.meta.dirname, 'results.json');

/** At least so many times the base's requests per second. Source: issue "fastest gateway", the goals of one run on two cores. */
const all = goal => ({ point: goal, one: goal, page: goal, wide: goal });
const alike = goal => ({ one: goal, page: goal, wide: goal });
export const GOALS = [
  { variant: 'ours-process', base: 'hive-rust', goals: { point: 20, one: 8, page: 6, wide: 6 } },
  { variant: 'ours-process', base: 'grafbase', goals: { point: 2.5, one: 1.5, page: 1.1, wide: 1 } },
  { variant: 'ours-process', base: 'apollo', goals: all(30) },
  { variant: 'ours-network', base: 'hive-rust', goals: { point: 18, one: 11, page: 5, wide: 2.5 } },
  { variant: 'ours-network', base: 'grafbase', goals: { point: 2.2, one: 2.2, page: 0.9, wide: 0.5 } },
  { variant: 'ours-network', base: 'apollo', goals: { ...all(20), wide: 10 } },
  { variant: 'ours-full', base: 'hive-rust', goals: { point: 10, wide: 2.5 } },
  { variant: 'ours-full', base: 'grafbase', goals: { point: 1.3 } },
  { variant: 'ours-full', base: 'apollo', goals: { point: 12, wide: 6 } },
  { variant: 'ours-dedupe', base: 'hive-rust-dedupe', goals: alike(3) },
  { variant: 'ours-dedupe', base: 'grafbase', goals: alike(4) },
  { variant: 'ours-dedupe', base: 'apollo', goals: alike(60) },
];

const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Medians of the rounds: `rows[workload][variant]`. */
export function summary(runs) {
  const rows = {};
  for (const [workload, byVariant] of Object.entries(runs))
    for (const [variant, rounds] of Object.entries(byVariant)) {
      const medians = Object.keys(rounds[0]).map(key => [key, Number(median(rounds.map(round => round[key])).toPrecision(4))]);
      (rows[workload] ??= {})[variant] = Object.fromEntries(medians);
    }
  return rows;
}

const line = cells => `| ${cells.join(' | ')} |`;
const tableOf = (heads, rows) => [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
const show = (number, digits) => (Number.isFinite(number) ? number.toFixed(digits) : '-');

/** All of one workload, the fastest first. CPU: of the gateway's process, all its threads. */
export function workloadTable(byVariant) {
  const heads = ['gateway', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'RSS MB', 'calls/req'];
  const rows = Object.entries(byVariant).sort(([, a], [, b]) => b.rps - a.rps);
  return tableOf(
    heads,
    rows.map(([variant, { rps, p50, p99, cpu, rss, calls }]) => [
      VARIANTS[variant].title,
      show(rps, 0),
      show(p50, 1),
      show(p99, 1),
      show(cpu, 3),
      show(rss, 0),
      show(calls, 2),
    ]),
  );
}

/** Ratios of requests per second to a base, by workload, with whether each goal is reached. */
export function goalRows(rows) {
  return GOALS.map(({ variant, base, goals }) => {
    const ratios = Object.entries(goals).flatMap(([workload, goal]) => {
      const [own, other] = [rows[workload]?.[variant], rows[workload]?.[base]];
      return own && other ? [{ workload, goal, ratio: own.rps / other.rps, cpuRatio: other.cpu / own.cpu }] : [];
    });
    return { variant, base, ratios };
  }).filter(({ ratios }) => ratios.length > 0);
}

const WORKS = ['point', 'one', 'page', 'wide'];

function cell(one) {
  if (!one) return '';
  const ratio = one.ratio.toFixed(1);
  return `${one.ratio < one.goal ? `**${ratio}**` : ratio} / ${show(one.cpuRatio, 1)} (${one.goal})`;
}

/** Ratios of requests per second and of CPU per request; goals of the first in brackets, bold what is below. */
export function goalTable(rows) {
  const cells = ({ variant, base, ratios }) => [
    VARIANTS[variant].title,
    VARIANTS[base].title,
    ...WORKS.map(workload => cell(ratios.find(one => one.workload === workload))),
  ];
  return tableOf(['ours', 'is … × of', ...WORKS], goalRows(rows).map(cells));
}

const [BEGIN, END] = ['<!-- bench:gateway begins -->', '<!-- bench:gateway ends -->'];

/** Writes a text between the markers of bench/README.md. */
async function intoReadme(text) {
  const readme = await readFile(README, 'utf8');
  const [before, after] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (before < 0 || after < before) throw new Error('bench/README.md has no markers for the figures of the gateway');
  await writeFile(README, `${readme.slice(0, before + BEGIN.length)}\n\n${text}\n\n${readme.slice(after)}`);
}

/** Writes a run to results.json and bench/README.md. `setting`: how it was made. */
export async function store(rows, setting) {
  const result = { ...setting, rows, goals: goalRows(rows) };
  const rounded = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  await writeFile(RESULTS, `${JSON.stringify(result, rounded, 2)}\n`);
  const { node, load, connections, rounds, seconds } = setting;
  await intoReadme(
    `${goalTable(rows)}\n\nNode ${node}, ${load}, ${connections} connections, ${rounds} rounds of ${seconds} s. First requests per second, then CPU per request; in brackets the goals for the first, bold what is below.`,
  );
}
