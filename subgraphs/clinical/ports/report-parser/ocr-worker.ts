import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import libheif from 'libheif-js/wasm-bundle.js';
import sharp, { type Sharp } from 'sharp';
import { createWorker, OEM } from 'tesseract.js';
import { extractImages, getDocumentProxy } from 'unpdf';
import type { ReadData } from './parser.js';

/** A picture of more pixels is not decoded. Source: clinical 7.3.5. */
const MOST_PIXELS = 50_000_000;
/** Of a decoder in WebAssembly. Source: clinical 7.3.5. */
const MOST_BYTES = 512 * 1024 * 1024;
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

const data = workerData as ReadData;

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
    if (data.pages && !data.pages.includes(number)) {
      pictures.push(null);
      continue;
    }
    const [largest] = (await extractImages(document, number)).sort((a, b) => b.width * b.height - a.width * a.height);
    pictures.push(largest ? sharp(Buffer.from(largest.data), { raw: largest, limitInputPixels: MOST_PIXELS }) : null);
  }
  return { pageCount, pictures };
}

async function recognise(pictures: readonly (Sharp | null)[]): Promise<RecognisedLine[]> {
  if (pictures.every(picture => picture === null)) return [];
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

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
const { Memory: wasm } = (globalThis as unknown as { WebAssembly: { Memory: { prototype: Memory } } }).WebAssembly;
const PAGE_BYTES = 65_536;

/** A thread's limit counts the memory of JavaScript alone: what WebAssembly asks for beyond is refused here, in this whole thread. */
function limitWasm(): void {
  const { grow } = wasm.prototype;
  wasm.prototype.grow = function (this: Memory, pages) {
    if (this.buffer.byteLength + pages * PAGE_BYTES > MOST_BYTES) throw new RangeError('no more memory');
    return grow.call(this, pages);
  };
}

/** The main picture of a HEIC file, turned as its container orders; `sharp` comes without a decoder of HEVC. @throws Error when it cannot be had. */
async function heic(): Promise<Sharp> {
  limitWasm();
  const found = new libheif.HeifDecoder().decode(data.bytes);
  const main = found.find(one => one.is_primary()) ?? found[0];
  if (!main) throw new Error('no picture');
  const [width, height] = [main.get_width(), main.get_height()];
  if (width * height > MOST_PIXELS) throw new Error('too many pixels');
  const pixels = new Uint8ClampedArray(width * height * 4);
  const isDecoded = await new Promise<boolean>(done => main.display({ data: pixels, width, height }, into => done(into !== null)));
  if (!isDecoded) throw new Error('not decoded');
  return sharp(pixels, { raw: { width, height, channels: 4 }, limitInputPixels: MOST_PIXELS });
}

const picture = async (): Promise<Sharp> =>
  data.kind === 'heic' ? heic() : sharp(Buffer.from(data.bytes), { limitInputPixels: MOST_PIXELS, failOn: 'error', pages: 1 });

/** Recognises the text of a picture or of a scan, in a thread of its own: what hangs or grows is ended from outside. */
async function read(): Promise<void> {
  const { pageCount, pictures } = data.kind === 'pdf' ? await scannedPages() : { pageCount: 1, pictures: [await picture()] };
  parentPort!.postMessage({ pageCount, lines: pictures && (await recognise(pictures)) });
}

await read();
