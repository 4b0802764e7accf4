/** What is used of the package, which has no types for this entry. */
declare module 'libheif-js/wasm-bundle.js' {
  interface Pixels {
    data: Uint8ClampedArray;
    width: number;
    height: number;
  }
  interface HeifImage {
    /** As the container says, before anything is decoded. */
    get_width(): number;
    get_height(): number;
    is_primary(): boolean;
    /** Decodes into RGBA, turned as the container says; null: it cannot. */
    display(into: Pixels, done: (pixels: Pixels | null) => void): void;
  }
  const libheif: { HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] } };
  export default libheif;
}
