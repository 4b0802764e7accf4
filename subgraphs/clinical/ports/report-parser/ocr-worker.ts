import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import sharp, { type Sharp } from 'sharp';
import { createWorker, OEM } from 'tesseract.js';
import { extractImages, getDocumentProxy } from 'unpdf';

/** A picture of more pixels is not decoded. Source: clinical 7.3.5. */
const MOST_PIXELS = 50_000_000;
/** Letters of a letter-size page are 25 to 40 pixels high at this width, where recognition is best, px. */
const WIDTH = 2000;
/** One even block of text: the cells of a table's row stay in one line. */
const ONE_BLOCK = '6';

interface RecognisedLine {
  page: number;
  box: null;
  text: string;
  /** Of the word that is least sure, 0..1. */
  confidence: number;
}

const data = workerData as { bytes: Uint8Array; pdf: boolean; mostPages: number };

/** The recognition's data lies in the package: nothing is fetched. */
const LANGUAGE_DATA = join(dirname(createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json')), '4.0.0_best_int');

const readable = (picture: Sharp): Promise<Buffer> =>
  picture.rotate().flatten({ background: 'white' }).greyscale().resize({ width: WIDTH }).normalise().png().toBuffer();

/** The largest picture of each page of a scan; null for a page without one, and for all where there are too many pages. */
async function scannedPages(): Promise<{ pageCount: number; pictures: (Sharp | null)[] | null }> {
  const document = await getDocumentProxy(new Uint8Array(data.bytes));
  const pageCount = document.numPages;
  if (pageCount > data.mostPages) return { pageCount, pictures: null };
  const pictures: (Sharp | null)[] = [];
  for (let number = 1; number <= pageCount; number++) {
    const [largest] = (await extractImages(document, number)).sort((a, b) => b.width * b.height - a.width * a.height);
    pictures.push(largest ? sharp(Buffer.from(largest.data), { raw: largest, limitInputPixels: MOST_PIXELS }) : null);
  }
  return { pageCount, pictures };
}

async function recognise(pictures: readonly (Sharp | null)[]): Promise<RecognisedLine[]> {
  const engine = await createWorker('eng', OEM.LSTM_ONLY, { langPath: LANGUAGE_DATA, gzip: true, cacheMethod: 'none' });
  await engine.setParameters({ tessedit_pageseg_mode: ONE_BLOCK });
  const found: RecognisedLine[] = [];
  for (const [index, picture] of pictures.entries()) {
    if (!picture) continue;
    const { data: page } = await engine.recognize(await readable(picture), {}, { blocks: true, text: false });
    const lines = (page.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap(({ lines: of }) => of));
    for (const { text, words } of lines)
      found.push({ page: index + 1, box: null, text: text.trim(), confidence: Math.min(...words.map(word => word.confidence)) / 100 });
  }
  await engine.terminate();
  return found;
}

/** Recognises the text of a picture or of a scan, in a thread of its own: what hangs or grows is ended from outside. */
async function read(): Promise<void> {
  const { pageCount, pictures } = data.pdf
    ? await scannedPages()
    : { pageCount: 1, pictures: [sharp(Buffer.from(data.bytes), { limitInputPixels: MOST_PIXELS, failOn: 'error', pages: 1 })] };
  parentPort!.postMessage({ pageCount, lines: pictures && (await recognise(pictures)) });
}

await read();
