/**
 * One QuickJS in a WebAssembly module of its own. The engine's own limit of memory counts too little (large strings and typed arrays are not
 * added up, https://github.com/justjake/quickjs-emscripten/issues/255 and /271), so the module's memory itself has a maximum.
 */
// Not "quickjs-emscripten": that brings four engines, of which one is used.
import release from "@jitl/quickjs-wasmfile-release-sync"
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSRuntime,
  type QuickJSSyncVariant
} from "quickjs-emscripten-core"

/** Variant of the engine. Its types describe the form for `require`, in which the variant is a member. */
const synchronous = release as unknown as QuickJSSyncVariant

const pageBytes = 65_536
/** Least memory that the module declares, in pages, https://github.com/justjake/quickjs-emscripten. */
const leastPages = 256

export interface EngineLimits {
  readonly memoryBytes: number
  readonly stackBytes: number
}

export interface Engine {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  /** Tells whether an allocation has failed. The module is not to be used any longer then. */
  readonly isExhausted: () => boolean
  readonly memoryBytes: () => number
  /** Ends code as soon as `isOver`: it is asked while code runs, and by allocations, since natives that fill memory do not ask. */
  readonly interruptWhen: (isOver: () => boolean) => void
}

/** `wasm`: the compiled module, which many engines may share. */
export const makeEngine = async (wasm: WebAssembly.Module, limits: EngineLimits): Promise<Engine> => {
  const maximum = Math.max(leastPages, Math.floor(limits.memoryBytes / pageBytes))
  const wasmMemory = new WebAssembly.Memory({ initial: leastPages, maximum })
  let failures = 0
  let isExhausted = false
  let isOver = (): boolean => false
  const grow = wasmMemory.grow.bind(wasmMemory)
  // The module asks for more than it needs first, and for less when it does not get that: three times.
  wasmMemory.grow = (pages) => {
    if (isOver()) isExhausted = true
    if (isExhausted) throw new RangeError("No more memory")
    try {
      const before = grow(pages)
      failures = 0
      return before
    } catch (error) {
      failures += 1
      if (failures >= 3) isExhausted = true
      throw error
    }
  }
  const variant = newVariant(synchronous, {
    wasmModule: wasm,
    wasmMemory,
    emscriptenModule: { print: () => {}, printErr: () => {} } as object
  })
  const quickjs = await newQuickJSWASMModuleFromVariant(variant)
  const runtime = quickjs.newRuntime()
  runtime.setMemoryLimit(maximum * pageBytes)
  runtime.setMaxStackSize(limits.stackBytes)
  const context = runtime.newContext()
  return {
    runtime,
    context,
    isExhausted: () => isExhausted,
    memoryBytes: () => wasmMemory.buffer.byteLength,
    interruptWhen: (asked) => {
      isOver = asked
      runtime.setInterruptHandler(asked)
    }
  }
}
