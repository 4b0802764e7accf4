import { parentPort, workerData } from 'node:worker_threads';
import { getDocumentProxy } from 'unpdf';

interface Item {
  str: string;
  transform: number[];
  width: number;
  height: number;
}

/** A piece of text where a reader of the page sees it, points from the lower left corner. */
interface Cell {
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
}

interface PageLine {
  page: number;
  box: number[];
  text: string;
}

/** The matrix by which a page is turned for its reader, as PDF writes it. */
type Matrix = readonly number[];

const cellOf = ({ str, transform, width, height }: Item, [a, b, c, d, e, f]: Matrix, pageHeight: number): Cell => {
  const [x, y] = [transform[4]!, transform[5]!];
  return {
    x: a! * x + c! * y + e!,
    y: pageHeight - (b! * x + d! * y + f!),
    width,
    height: height || Math.abs(transform[3]!),
    text: str.trim(),
  };
};

/** Cells whose feet are less than this part of a letter's height apart are of one line: marks and footnotes stand a little higher. */
const SAME_LINE = 0.5;

function rowsOf(cells: readonly Cell[]): Cell[][] {
  const rows: Cell[][] = [];
  for (const cell of [...cells].sort((a, b) => b.y - a.y)) {
    const [first] = rows.at(-1) ?? [];
    if (first && first.y - cell.y < SAME_LINE * Math.max(first.height, cell.height)) rows.at(-1)!.push(cell);
    else rows.push([cell]);
  }
  return rows;
}

/** Pieces that touch and stand equally are one word; a raised figure is a mark and never a digit of the number before it. */
const touches = (before: Cell, cell: Cell): boolean =>
  cell.x - (before.x + before.width) < 0.1 * cell.height &&
  Math.abs(before.y - cell.y) < 0.5 &&
  Math.abs(before.height - cell.height) < 0.5;

function lineOf(page: number, row: readonly Cell[]): PageLine {
  const cells = [...row].sort((a, b) => a.x - b.x);
  const [first, last] = [cells[0]!, cells.at(-1)!];
  const text = cells.map((cell, at) => (at === 0 || touches(cells[at - 1]!, cell) ? cell.text : ` ${cell.text}`)).join('');
  return { page, box: [first.x, first.y, last.x + last.width - first.x, first.height], text };
}

/** Text of a PDF by lines, in a thread of its own: what hangs or grows is ended from outside. */
async function read(): Promise<void> {
  const { bytes, mostPages } = workerData as { bytes: Uint8Array; mostPages: number };
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const pageCount = document.numPages;
  const lines: PageLine[] = [];
  for (let number = 1; number <= pageCount && pageCount <= mostPages; number++) {
    const page = await document.getPage(number);
    const { transform, height } = page.getViewport({ scale: 1 }) as { transform: Matrix; height: number };
    const items = ((await page.getTextContent()).items as Item[]).filter(item => item.str?.trim());
    lines.push(...rowsOf(items.map(item => cellOf(item, transform, height))).map(row => lineOf(number, row)));
  }
  parentPort!.postMessage({ pageCount, lines: pageCount > mostPages ? null : lines });
}

await read();
