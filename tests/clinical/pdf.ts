/** The objects of a document, the first of them its catalogue, as a file. */
function fileOf(objects: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const size = (): number => parts.reduce((sum, part) => sum + part.length, 0);
  const offsets = objects.map((object, index) => {
    const at = size();
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n'));
    return at;
  });
  const start = size();
  const table = offsets.map(at => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`)]);
}

const CATALOGUE = '<< /Type /Catalog /Pages 2 0 R >>';

/** Bytes of the fonts' encoding, which is Latin-1 with a dash. */
const encoded = (text: string): string =>
  text
    .replace(/[\\()]/g, '\\$&')
    .replace(/–/g, '\x96')
    .replace(/’/g, '\x92');

/** A line at its height: cells that tabs divide begin at columns of their own. */
const lineAt = (line: string, y: number): string =>
  line
    .split('\t')
    .map((cell, column) => `1 0 0 1 ${50 + 100 * column} ${y} Tm (${encoded(cell)}) Tj`)
    .join('\n');

/** A PDF with one text line per entry of each page, as small as the format allows. */
export function pdfOf(...pages: readonly (readonly string[])[]): Buffer {
  const objects: string[] = [CATALOGUE, '', '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'];
  const kids = pages.map(lines => {
    const text = lines.map((line, at) => lineAt(line, 760 - at * 18)).join('\n');
    const stream = `BT /F1 10 Tf\n${text}\nET`;
    const content = objects.push(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
    return objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${content} 0 R >>`,
    );
  });
  objects[1] = `<< /Type /Pages /Kids [${kids.map(kid => `${kid} 0 R`).join(' ')}] /Count ${kids.length} >>`;
  return fileOf(objects.map(object => Buffer.from(object, 'latin1')));
}

const streamOf = (dictionary: string, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`), bytes, Buffer.from('\nendstream')]);

/** A page of one line of text, as objects 6 to 8 of a file. */
const textPage = (line: string): Buffer[] => [
  Buffer.from('<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 306] /Resources << /Font << /F1 7 0 R >> >> /Contents 8 0 R >>'),
  Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
  streamOf('', Buffer.from(`BT /F1 10 Tf\n${lineAt(line, 200)}\nET`)),
];

/**
 * A PDF of a page that is nothing but a JPEG picture, as a scanner makes it. @param width, height of the picture, px.
 * @param line text of a page before it.
 */
export const scanOf = (jpeg: Buffer, width: number, height: number, line?: string): Buffer =>
  fileOf([
    Buffer.from(CATALOGUE),
    Buffer.from(line ? '<< /Type /Pages /Kids [6 0 R 3 0 R] /Count 2 >>' : '<< /Type /Pages /Kids [3 0 R] /Count 1 >>'),
    Buffer.from('<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 306] /Resources << /XObject << /I 4 0 R >> >> /Contents 5 0 R >>'),
    streamOf(
      `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode`,
      jpeg,
    ),
    streamOf('', Buffer.from('q 612 0 0 306 0 0 cm /I Do Q')),
    ...(line ? textPage(line) : []),
  ]);
