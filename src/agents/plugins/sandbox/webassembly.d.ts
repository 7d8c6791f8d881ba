/**
 * Parts of WebAssembly that are used: Node has them, its types of this version do not.
 * https://webassembly.github.io/spec/js-api
 */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer
    grow: (pages: number) => number
  }
  const Memory: new (descriptor: { readonly initial: number; readonly maximum: number }) => Memory
  const RuntimeError: new (message?: string) => Error
  const compile: (bytes: Uint8Array) => Promise<Module>
}
