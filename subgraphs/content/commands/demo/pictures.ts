import type { Kept } from '../../ports/pictures.js';

/** Width and height, px. */
const [WIDTH, HEIGHT] = [640, 480];

/** A drawing of its own for each number: two colours and some shapes, no letters. */
export async function drawn(index: number): Promise<Kept> {
  const hue = (index * 47) % 360;
  const circles = Array.from({ length: 4 }, (_, at) => {
    const [x, y, r] = [80 + ((index * 53 + at * 151) % 480), 60 + ((index * 31 + at * 97) % 360), 30 + ((index * 17 + at * 29) % 70)];
    return `<circle cx="${x}" cy="${y}" r="${r}" fill="hsl(${(hue + at * 25) % 360} 60% ${45 + at * 8}%)" fill-opacity="0.55"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><rect width="100%" height="100%" fill="hsl(${hue} 45% 88%)"/>
    <rect x="${240 + (index % 5) * 10}" y="120" width="160" height="260" rx="24" fill="hsl(${hue} 35% 98%)"/>${circles.join('')}</svg>`;
  const { default: sharp } = await import('sharp');
  const bytes = await sharp(Buffer.from(svg)).webp({ quality: 70, effort: 0 }).toBuffer();
  return { bytes, mimeType: 'image/webp', width: WIDTH, height: HEIGHT, blurhash: null };
}
