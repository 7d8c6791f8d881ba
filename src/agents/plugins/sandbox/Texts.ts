/** The engine and the scripts that go into it, read once: files that the build copies beside its chunks. */
import * as Predicate from "effect/Predicate"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { brotliDecompress } from "node:zlib"
import type { InsideTexts } from "./thread/Protocol.ts"

export interface SandboxTexts {
  readonly wasm: WebAssembly.Module
  readonly inside: InsideTexts
}

const wasmFile = new URL(
  "../../../../node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm",
  import.meta.url
)
const globalsFile = new URL("./inside/globals.js", import.meta.url)
const grantedFile = new URL("./inside/granted.js", import.meta.url)
const callsFile = new URL("./inside/calls.js", import.meta.url)
const sdkFile = new URL("./inside/sdk.js", import.meta.url)

const decompressed = promisify(brotliDecompress)

const isMissing = (error: unknown): boolean => Predicate.hasProperty(error, "code") && error.code === "ENOENT"

/** The engine; a build has it compressed. */
const engine = async (): Promise<Buffer> => {
  try {
    return await readFile(wasmFile)
  } catch (error) {
    if (!isMissing(error)) throw error
    return decompressed(await readFile(`${fileURLToPath(wasmFile)}.br`))
  }
}

let loading: Promise<SandboxTexts> | null = null

const load = async (): Promise<SandboxTexts> => {
  const text = (file: URL): Promise<string> => readFile(file, "utf8")
  const [bytes, globals, granted, calls, sdk] = await Promise.all([
    engine(),
    text(globalsFile),
    text(grantedFile),
    text(callsFile),
    text(sdkFile)
  ])
  return { wasm: await WebAssembly.compile(bytes), inside: { scripts: [globals, granted, calls], sdk } }
}

/** Threads share the compiled engine. */
export const sandboxTexts = (): Promise<SandboxTexts> => {
  loading ??= load()
  return loading
}
