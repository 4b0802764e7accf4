import { parentPort, workerData } from 'node:worker_threads';
import { getDocumentProxy } from 'unpdf';

interface Item {
  str: string;
  transform: number[];
  width: number;
  height: number;
}

interface PageLine {
  page: number;
  box: number[];
  text: string;
}

/** Items of one height are a line; a wide gap between two is a space. */
function linesOf(page: number, items: readonly Item[]): PageLine[] {
  const rows = new Map<number, Item[]>();
  for (const item of items.filter(one => one.str.trim())) {
    const y = Math.round(item.transform[5]! / 2) * 2;
    rows.set(y, [...(rows.get(y) ?? []), item]);
  }
  return [...rows.entries()]
    .sort(([a], [b]) => b - a)
    .map(([y, cells]) => {
      cells.sort((a, b) => a.transform[4]! - b.transform[4]!);
      const [first, last] = [cells[0]!, cells.at(-1)!];
      const x = first.transform[4]!;
      return { page, box: [x, y, last.transform[4]! + last.width - x, first.height], text: cells.map(one => one.str.trim()).join(' ') };
    });
}

/** Text of a PDF by lines, in a thread of its own: what hangs or grows is ended from outside. */
async function read(): Promise<void> {
  const { bytes, mostPages } = workerData as { bytes: Uint8Array; mostPages: number };
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const pageCount = document.numPages;
  const lines: PageLine[] = [];
  for (let number = 1; number <= pageCount && pageCount <= mostPages; number++) {
    const page = await document.getPage(number);
    lines.push(...linesOf(number, (await page.getTextContent()).items as Item[]));
  }
  parentPort!.postMessage({ pageCount, lines: pageCount > mostPages ? null : lines });
}

await read();
