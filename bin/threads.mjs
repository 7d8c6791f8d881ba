// Threads and companion programs that import something: each becomes one file with all of it, because beside the chunks there is nothing to
// import.
import { writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { compressed } from "./compressed.mjs"
import { dataFiles } from "./dataFiles.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

/**
 * Writes code in ASCII: V8 keeps a file with one wider character in two bytes per character, and takes longer to load it. What is not ASCII
 * stands in strings and patterns, where an escape means the same.
 */
export const asciiOnly = {
  name: "ascii-only",
  generateBundle: (_, bundle) => {
    for (const part of Object.values(bundle)) {
      if (part.type !== "chunk") continue
      part.code = part.code.replaceAll(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
      )
    }
  }
}

export const unresolvedIsAnError = (level, log, report) =>
  report(level === "warn" && log.code === "UNRESOLVED_IMPORT" ? "error" : level, log)

/**
 * Threads by the name of the copy that the bundler makes, before its hash. Of the tokeniser's package one vocabulary is
 * used.
 */
const threads = {
  worker: "src/plane/tokens/worker.mjs",
  bodyThread: "src/observe/inspector/work/bodyThread.mjs",
  guardThread: "src/plane/features/guardrails/thread/guardThread.mjs",
  sandboxThread: "src/agents/plugins/sandbox/thread/sandboxThread.mjs",
  // A program of its own, which takes changes of the machine back when the gateway is killed.
  watchdog: "src/observe/capture/host/watchdog.mjs"
}

/** The source of a thread's copy; null for other files. */
export const threadOf = (fileName) => {
  const name = /^assets\/([A-Za-z]+)-[^/]*\.mjs$/.exec(fileName)?.[1]
  return name !== undefined && Object.hasOwn(threads, name) ? threads[name] : null
}

/** A thread's text with the driver of the database that the program has (bin/sqlite.cjs). */
export const driverOf = (text) => text.replaceAll(' from "better-sqlite3"', ' from "../sqlite.cjs"')

/** Threads whose code is kept compressed: a package's own compression leaves a third more of the tokeniser's vocabularies. */
const isPacked = (source) => /\/(?:worker|bodyThread|guardThread|sandboxThread)\.mjs$/.test(source)

const minify = { mangle: { keepNames: true }, compress: true, codegen: { removeWhitespace: true } }

/** Loads a packed thread, whose code lies beside it. What it imports while it runs are modules of Node. */
const packedThread = (name) => `import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { constants, Script } from "node:vm"
import { brotliDecompressSync } from "node:zlib"
const code = brotliDecompressSync(readFileSync(new URL("./${name}", import.meta.url))).toString("latin1")
const script = new Script("(function (require, module, exports, __filename) {" + code + "\\n})", {
  filename: import.meta.url,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
})
script.runInThisContext()(createRequire(import.meta.url), { exports: {} }, {}, fileURLToPath(import.meta.url))
`

/** A thread, with all that it imports. */
export const buildThread = async (rolldown, source, file, isQuick) => {
  const bundle = await rolldown({
    input: join(root, source),
    cwd: root,
    platform: "node",
    plugins: [dataFiles, asciiOnly],
    onLog: unresolvedIsAnError
  })
  const packs = isPacked(source) && !isQuick
  try {
    const options = { codeSplitting: false, format: packs ? "cjs" : "esm", minify: isQuick ? false : minify }
    const { output } = await bundle.write({ file, ...options })
    if (packs) {
      writeFileSync(`${file}.br`, await compressed(Buffer.from(output[0].code, "latin1")))
      writeFileSync(file, packedThread(`${basename(file)}.br`))
    }
    return output
  } finally {
    await bundle.close()
  }
}
