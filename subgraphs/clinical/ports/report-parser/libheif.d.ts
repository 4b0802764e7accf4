/** What is used of the package, which has no types for this entry. */
declare module 'libheif-js/wasm-bundle.js' {
  interface Pixels {
    data: Uint8ClampedArray;
    width: number;
    height: number;
  }
  interface HeifImage {
    /** By the container, before anything is decoded. */
    get_width(): number;
    get_height(): number;
    is_primary(): boolean;
    /** Decodes into RGBA, turned as the container orders; null: it cannot. */
    display(into: Pixels, done: (pixels: Pixels | null) => void): void;
  }
  const libheif: { HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] } };
  export default libheif;
}
